import Concord
public import ConcordModel

/// What is committed at this moment, or was and is not told yet.
///
/// Who is told of a commit reads the newest rows, and these may be those of later commits already. It shows those commits whole by reading
/// the rows of all that is announced, too: a commit is announced before anybody can read it, and until all have been told of it.
public struct AnnouncedChanges: Sendable {
  /// Differs after each announcement.
  public fileprivate(set) var version: Int
  /// How many of the announced commits have ended, ever. Who reads afterwards reads what they wrote.
  public fileprivate(set) var endedCount: Int
  /// What may be committed at any moment, by its number.
  fileprivate var open: [Int: [EntityKey]]
  /// What was committed, by how many commits had ended with it.
  fileprivate var ended: [Int: [EntityKey]]

  /// No announced changes.
  public static let none = AnnouncedChanges(version: 0, endedCount: 0, open: [:], ended: [:])

  /// Whether no changes are announced.
  public var isEmpty: Bool { open.isEmpty && ended.isEmpty }
  /// The entities whose rows come, change or go.
  public var keys: Set<EntityKey> {
    ended.values.reduce(into: open.values.reduce(into: []) { $0.formUnion($1) }) { $0.formUnion($1) }
  }

  /// Without the commits that had ended when so many had.
  ///
  /// - Complexity: the number of commits that are left.
  public func after(_ count: Int) -> AnnouncedChanges {
    var rest = self
    if endedCount - count > ended.count {
      rest.ended = ended.filter { $0.key > count }
    } else {
      rest.ended = [:]
      for number in min(count, endedCount)..<endedCount { rest.ended[number + 1] = ended[number + 1] }
    }
    return rest
  }
}

/// Keeps what is announced.
final class Announcements: Sendable {
  private let state = Locked(AnnouncedChanges.none)

  var current: AnnouncedChanges { state.withLock { $0 } }

  /// - Returns: its number.
  func add(_ keys: [EntityKey]) -> Int {
    state.withLock { state in
      state.version += 1
      state.open[state.version] = keys
      return state.version
    }
  }

  /// Notes that it is committed, or never will be.
  ///
  /// - Returns: its number from now on.
  func end(_ number: Int) -> Int {
    state.withLock { state in
      state.endedCount += 1
      state.ended[state.endedCount] = state.open.removeValue(forKey: number)
      return state.endedCount
    }
  }

  /// Forgets those that have ended and that all have been told of.
  func remove(_ numbers: [Int]) {
    if numbers.isEmpty { return }
    state.withLock { state in for number in numbers { state.ended[number] = nil } }
  }
}
