import Concord
public import ConcordModel

/// The changes of commits that are in progress, or that observers were not notified of yet.
///
/// An observer of a commit reads the newest rows, which may be those of later commits. It shows these commits whole by also
/// reading the rows of all announced changes: a commit is announced before its rows can be read, and until all observers have
/// been notified of it.
public struct AnnouncedChanges: Sendable {
  /// A number that differs after each announcement.
  public fileprivate(set) var version: Int
  /// The number of announced commits that have ended so far. Later reads see their rows.
  public fileprivate(set) var endedCount: Int
  /// The keys of commits in progress, by their numbers.
  fileprivate var open: [Int: [EntityKey]]
  /// The keys of ended commits, by the number of commits that had ended with each.
  fileprivate var ended: [Int: [EntityKey]]
  /// The types of the rows that ended commits with unknown changes may have changed, by the same number.
  fileprivate var endedTypes: [Int: Set<EntityDescription>]

  /// No announced changes.
  public static let none = AnnouncedChanges(version: 0, endedCount: 0, open: [:], ended: [:], endedTypes: [:])

  /// Whether no changes are announced.
  public var isEmpty: Bool { open.isEmpty && ended.isEmpty && endedTypes.isEmpty }
  /// The types whose rows may be changed by commits with unknown changes.
  public var types: Set<EntityDescription> { endedTypes.values.reduce(into: []) { $0.formUnion($1) } }
  /// The entities whose rows are inserted, changed or removed.
  public var keys: Set<EntityKey> {
    ended.values.reduce(into: open.values.reduce(into: []) { $0.formUnion($1) }) { $0.formUnion($1) }
  }

  /// Returns the changes without those of the first `count` ended commits.
  ///
  /// - Complexity: the number of commits that are left.
  public func after(_ count: Int) -> AnnouncedChanges {
    var rest = self
    if !endedTypes.isEmpty { rest.endedTypes = endedTypes.filter { $0.key > count } }
    if endedCount - count > ended.count {
      rest.ended = ended.filter { $0.key > count }
    } else {
      rest.ended = [:]
      for number in min(count, endedCount)..<endedCount { rest.ended[number + 1] = ended[number + 1] }
    }
    return rest
  }
}

/// The announcements of a coordinator's commits.
final class Announcements: Sendable {
  private let state = Locked(AnnouncedChanges.none)

  var current: AnnouncedChanges { state.withLock { $0 } }

  /// Announces a commit.
  ///
  /// - Returns: the number of the announcement.
  func add(_ keys: [EntityKey]) -> Int {
    state.withLock { state in
      state.version += 1
      state.open[state.version] = keys
      return state.version
    }
  }

  /// Notes that a commit has ended, with or without success.
  ///
  /// - Returns: the number of the announcement from now on.
  func end(_ number: Int) -> Int {
    state.withLock { state in
      state.endedCount += 1
      state.ended[state.endedCount] = state.open.removeValue(forKey: number)
      return state.endedCount
    }
  }

  /// Announces an ended commit.
  ///
  /// - Returns: the number of the announcement.
  func addEnded(_ keys: [EntityKey]) -> Int {
    state.withLock { state in
      state.version += 1
      state.endedCount += 1
      state.ended[state.endedCount] = keys
      return state.endedCount
    }
  }

  /// Announces an ended commit that may have changed any row of some types.
  ///
  /// - Returns: the number of the announcement.
  func addEnded(_ types: Set<EntityDescription>) -> Int {
    state.withLock { state in
      state.version += 1
      state.endedCount += 1
      state.endedTypes[state.endedCount] = types
      return state.endedCount
    }
  }

  /// Removes announcements of commits that all observers were notified of.
  func remove(_ numbers: [Int]) {
    if numbers.isEmpty { return }
    state.withLock { state in
      for number in numbers {
        state.ended[number] = nil
        state.endedTypes[number] = nil
      }
    }
  }
}
