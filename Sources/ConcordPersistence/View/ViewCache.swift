import Concord
import ConcordModel
import Foundation
import Synchronization

/// The entities that a view keeps in memory although nobody observes them: those that were found last.
final class ViewCache: Sendable {
  private let types = Locked<[EntityDescription: Kept]>([:])
  /// Whether there ever was a rule.
  let isUsed = Atomic<Bool>(false)
  /// The number of times that something was looked for that a rule does not keep any longer, for tests.
  let sweepCount = Atomic<Int>(0)

  /// The kept entities of a type.
  fileprivate struct Kept: Sendable {
    let most: Int
    let time: TimeInterval?
    /// Whether an entity still meets the rule's condition.
    let isMeant: @Sendable (StoredValue) -> Bool
    let hasCondition: Bool
    /// A timer that looks again and again for entities whose time is over.
    let timer: RepeatingTimer?
    var entries: [StoredValue: Entry] = [:]
    /// The uses in order, the last one of each entity among them.
    var uses = FIFOQueue<(key: StoredValue, number: UInt64)>()
    var lastNumber: UInt64 = 0
    var usesSinceSweep = 0
  }

  fileprivate struct Entry: Sendable {
    let token: any Sendable
    let number: UInt64
    let date: TimeInterval
  }

  func set(_ entity: EntityDescription, most: Int, time: TimeInterval?, _ isMeant: (@Sendable (StoredValue) -> Bool)?) {
    isUsed.store(true, ordering: .relaxed)
    let timer = time.map { time in
      RepeatingTimer(every: min(max(0.1, time / 4), 3_600)) { [weak self] in self?.sweep(entity) }
    }
    let kept = Kept(
      most: most, time: time, isMeant: isMeant ?? { _ in true }, hasCondition: isMeant != nil, timer: timer)
    let former = types.withLock { $0.updateValue(kept, forKey: entity) }
    withExtendedLifetime(former) {}
  }

  func remove(_ entity: EntityDescription) {
    let former = types.withLock { $0.removeValue(forKey: entity) }
    withExtendedLifetime(former) {}
  }

  /// Keeps an entity that was just found.
  ///
  /// - Complexity: constant, amortised.
  func use(_ key: EntityKey, _ token: any Sendable) {
    // Whether it is meant is asked without the lock, and what is released goes without it.
    guard let isMeant = types.withLock({ $0[key.entity]?.isMeant }), isMeant(key.id) else { return }
    let now = Date().timeIntervalSinceReferenceDate
    let (gone, mustSweep) = types.withLock { types -> ([Entry], Bool) in
      guard var kept = types.removeValue(forKey: key.entity) else { return ([], false) }
      defer { types[key.entity] = kept }
      kept.lastNumber += 1
      kept.usesSinceSweep += 1
      var gone: [Entry] = []
      let entry = Entry(token: token, number: kept.lastNumber, date: now)
      if let former = kept.entries.updateValue(entry, forKey: key.id) { gone.append(former) }
      kept.uses.append((key.id, kept.lastNumber))
      gone += kept.removeOutdated(now)
      let mustSweep = kept.hasCondition && kept.usesSinceSweep > kept.entries.count + 64
      return (gone, mustSweep)
    }
    withExtendedLifetime(gone) {}
    if mustSweep { sweep(key.entity) }
  }

  /// Lets go of all entities of some types, whose store is detached. The rules stay.
  func forgetAll(of entities: Set<EntityDescription>) {
    let gone = types.withLock { types in entities.flatMap { types[$0]?.removeAll() ?? [] } }
    withExtendedLifetime(gone) {}
  }

  /// Lets go of what a rule does not keep any longer.
  func sweep(_ entity: EntityDescription) {
    sweepCount.add(1, ordering: .relaxed)
    let (keys, isMeant) = types.withLock { types in
      types[entity]?.usesSinceSweep = 0
      let kept = types[entity]
      return (kept?.hasCondition ?? false ? kept.map { Array($0.entries.keys) } ?? [] : [], kept?.isMeant)
    }
    let outside = keys.filter { !(isMeant?($0) ?? true) }
    let now = Date().timeIntervalSinceReferenceDate
    let gone = types.withLock { types -> [Entry] in
      let gone = outside.compactMap { types[entity]?.entries.removeValue(forKey: $0) }
      return gone + (types[entity]?.removeOutdated(now) ?? [])
    }
    withExtendedLifetime(gone) {}
  }

  /// The number of kept entities of a type.
  func count(of entity: EntityDescription) -> Int { types.withLock { $0[entity]?.entries.count ?? 0 } }
}

extension ViewCache.Kept {
  fileprivate mutating func removeAll() -> [ViewCache.Entry] {
    defer { (entries, uses) = ([:], FIFOQueue()) }
    return Array(entries.values)
  }

  /// Removes the entities beyond the number, or whose time is over.
  fileprivate mutating func removeOutdated(_ now: TimeInterval) -> [ViewCache.Entry] {
    var gone: [ViewCache.Entry] = []
    while let (key, number) = uses.first {
      if let entry = entries[key], entry.number == number {
        guard entries.count > most || time.map({ entry.date < now - $0 }) ?? false else { break }
        gone.append(entry)
        entries[key] = nil
      }
      uses.removeFirst()
    }
    // An entity that is used again and again leaves its earlier uses behind one that stays.
    if uses.count > 2 * entries.count + 64 { uses.removeAll { entries[$0.key]?.number != $0.number } }
    return gone
  }
}

/// A list that is appended to at its end, and removed from at its beginning.
private struct FIFOQueue<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var start = 0

  var count: Int { elements.count - start }
  var first: Element? { start < elements.count ? elements[start] : nil }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func removeFirst() {
    start += 1
    guard start > 64, start * 2 > elements.count else { return }
    elements.removeFirst(start)
    start = 0
  }

  mutating func removeAll(where isGone: (Element) -> Bool) {
    elements.removeFirst(start)
    start = 0
    elements.removeAll(where: isGone)
  }
}
