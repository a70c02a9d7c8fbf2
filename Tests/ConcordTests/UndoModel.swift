/// A naive model of what undoing does: all entities as flat tables, and steps as their differences.
struct UndoModel {
  enum Key: Hashable {
    case writer(Int), novel(Int), shelf(Int)
    /// An alias of one entity, and one of a list.
    case pick, list
  }

  enum Property: Equatable {
    case number(Int)
    case set(Set<Int>)
    case one(Key?)
    case many([Key])

    var keys: [Key] {
      switch self {
      case .number, .set: []
      case .one(let key): key.map { [$0] } ?? []
      case .many(let keys): keys
      }
    }
  }

  typealias Entity = [String: Property]
  typealias State = [Key: Entity]

  struct Change {
    let key: Key
    let old: Entity?
    let new: Entity?
    /// All entities as the transaction had them, for those that are gone when it is undone.
    let known: State
  }

  /// The changes of one transaction.
  struct Part { var changes: [Change] }

  struct Step {
    let name: String
    var group: Int?
    var parts: [Part]
  }

  var state: State = [:]
  var undo: [Step] = []
  var redo: [Step] = []

  // MARK: Writing

  /// Removes an entity from wherever it is, with what requires it.
  mutating func remove(_ key: Key) {
    guard state.removeValue(forKey: key) != nil else { return }
    for (other, entity) in state {
      for (name, property) in entity where property.keys.contains(key) {
        switch property {
        case .many(let keys): state[other]?[name] = .many(keys.filter { $0 != key })
        default:
          // A novel requires its writer, and an alias ends with its entity.
          if name == "writer" || other == .pick { remove(other) } else { state[other]?[name] = .one(nil) }
        }
      }
    }
  }

  /// Lets go of all that nothing retains.
  ///
  /// - Parameter roots: those that somebody observes.
  mutating func release(except roots: (Key) -> Bool) {
    var reached: Set<Key> = []
    var open = state.keys.filter { $0 == .pick || $0 == .list || roots($0) }
    while let key = open.popLast() {
      guard let entity = state[key], reached.insert(key).inserted else { continue }
      open += entity.values.flatMap(\.keys)
    }
    state = state.filter { reached.contains($0.key) }
  }

  // MARK: Steps

  static func part(from old: State, to new: State) -> Part {
    let keys = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
    let known = old.merging(new) { $1 }
    return Part(changes: keys.map { Change(key: $0, old: old[$0], new: new[$0], known: known) })
  }

  /// Returns what two parts change together, as if they were one; `nil` if others have changed the same between them.
  private static func joined(_ part: Part, _ later: Part) -> Part? {
    var changes = part.changes
    for change in later.changes {
      guard let index = changes.firstIndex(where: { $0.key == change.key }) else {
        changes.append(change)
        continue
      }
      if changes[index].new != change.old { return nil }
      let first = changes[index]
      changes[index] = Change(key: first.key, old: first.old, new: change.new, known: first.known)
    }
    return Part(changes: changes.filter { $0.old != nil || $0.new != nil })
  }

  mutating func record(_ name: String, group: Int?, from old: State) {
    let part = Self.part(from: old, to: state)
    if part.changes.isEmpty { return }
    redo = []
    if let group, let last = undo.last, last.group == group, last.name == name {
      if let last = last.parts.last, let joined = Self.joined(last, part) {
        undo[undo.count - 1].parts.removeLast()
        if !joined.changes.isEmpty { undo[undo.count - 1].parts.append(joined) }
        if undo[undo.count - 1].parts.isEmpty { undo.removeLast() }
      } else {
        undo[undo.count - 1].parts.append(part)
      }
    } else {
      undo.append(Step(name: name, group: group, parts: [part]))
    }
  }

  enum Outcome: Equatable {
    case nothing
    case overtaken
    case done(isWhole: Bool)
  }

  mutating func revert(isRedo: Bool) -> Outcome {
    guard let step = isRedo ? redo.popLast() : undo.popLast() else { return .nothing }
    let before = state
    var conflicts = 0
    for part in step.parts.reversed() { conflicts += revert(part, since: before) }
    let inverse = Self.part(from: before, to: state)
    if inverse.changes.isEmpty, conflicts > 0 { return .overtaken }
    if !inverse.changes.isEmpty {
      let step = Step(name: step.name, group: nil, parts: [inverse])
      if isRedo { undo.append(step) } else { redo.append(step) }
    }
    return .done(isWhole: conflicts == 0)
  }

  /// Takes a part back. Returns the number of conflicts.
  private mutating func revert(_ part: Part, since start: State) -> Int {
    var conflicts = 0
    let kept = kept(part)
    for change in part.changes where change.new == nil {
      guard let old = change.old else { continue }
      guard let present = state[change.key] else {
        put(old, at: change.key, change.known)
        continue
      }
      if present == old { continue }
      if start[change.key] == nil { put(old, at: change.key, change.known) } else { conflicts += 1 }
    }
    var missing: [Change] = []
    for change in part.changes where change.new != nil && change.old != nil {
      if let count = update(change, kept) { conflicts += count } else { missing.append(change) }
    }
    for change in missing { conflicts += update(change, kept) ?? 1 }
    var leaving: Set<Key> = []
    for change in part.changes where change.old == nil {
      guard let present = state[change.key] else { continue }
      if present != change.new || kept.contains(change.key) {
        conflicts += 1
      } else if change.key == .pick || change.key == .list {
        state[change.key] = nil
      } else {
        leaving.insert(change.key)
      }
    }
    while true {
      let used = leaving.filter { key in
        state.contains { !leaving.contains($0.key) && $0.value.values.contains { $0.keys.contains(key) } }
      }
      if used.isEmpty { break }
      conflicts += used.count
      leaving.subtract(used)
    }
    for key in leaving { remove(key) }
    return conflicts
  }

  /// Returns what a part inserted and others have changed since, with what it inserted that contains such.
  private func kept(_ part: Part) -> Set<Key> {
    let inserted = part.changes.filter { $0.old == nil && state[$0.key] != nil }
    var kept = Set(inserted.filter { state[$0.key] != $0.new }.map(\.key))
    while true {
      let more = inserted.map(\.key).filter { key in
        !kept.contains(key) && state[key]?.values.contains { !kept.isDisjoint(with: $0.keys) } ?? false
      }
      if more.isEmpty { return kept }
      kept.formUnion(more)
    }
  }

  /// Returns the number of conflicts; `nil` if the entity is not there.
  private mutating func update(_ change: Change, _ kept: Set<Key>) -> Int? {
    guard let old = change.old, let new = change.new, var present = state[change.key] else { return nil }
    var conflicts = 0
    for (name, before) in old {
      guard let after = new[name], let now = present[name], before != after, now != before else { continue }
      // What they contain stays in it.
      let staying = kept.intersection(after.keys).intersection(now.keys).subtracting(before.keys)
      if now == after, staying.isEmpty {
        present[name] = before
        continue
      }
      switch (before, after, now) {
      case (.set(let before), .set(let after), .set(let now)):
        present[name] = .set(now.subtracting(after.subtracting(before)).union(before.subtracting(after)))
      case (.many(let before), .many(let after), .many(let now)):
        var result = now.filter { before.contains($0) || !after.contains($0) || staying.contains($0) }
        var isPartial = !staying.isEmpty
        let places = result.indices.filter { before.contains(result[$0]) && after.contains(result[$0]) }
        let common = places.map { result[$0] }
        let (former, made) = (before.filter(common.contains), after.filter(common.contains))
        if former != made, common == made {
          for (place, key) in zip(places, former) { result[place] = key }
        } else if former != made, common != former {
          isPartial = true
        }
        if isPartial { conflicts += 1 }
        for (index, key) in before.enumerated() where !after.contains(key) && !result.contains(key) {
          let place = before[..<index].last { result.contains($0) }.flatMap { result.firstIndex(of: $0) }
          result.insert(key, at: place.map { $0 + 1 } ?? 0)
        }
        present[name] = .many(result)
      default: conflicts += 1
      }
    }
    put(present, at: change.key, change.known)
    return conflicts
  }

  /// Writes an entity. What it contains is stored again as it was, if it is gone.
  private mutating func put(_ entity: Entity, at key: Key, _ known: State) {
    state[key] = entity
    for inside in entity.values.flatMap(\.keys) where state[inside] == nil {
      if let entity = known[inside] { put(entity, at: inside, known) }
    }
  }
}
