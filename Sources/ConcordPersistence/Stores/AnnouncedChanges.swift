import Concord
public import ConcordModel

/// What is committed at this moment, or was and is not told yet.
///
/// Who is told of a commit reads the newest rows, and these may be those of later commits already. It shows those commits whole by reading
/// the rows of all that is announced, too: a commit is announced before anybody can read it, and until all have been told of it.
public struct AnnouncedChanges: Sendable {
  /// Differs after each announcement.
  public let version: Int
  fileprivate let batches: [Int: [EntityKey]]

  public static let none = AnnouncedChanges(version: 0, batches: [:])

  public var isEmpty: Bool { batches.isEmpty }
  /// The entities whose rows come, change or go.
  public var keys: Set<EntityKey> { batches.values.reduce(into: []) { $0.formUnion($1) } }
}

/// Keeps what is announced.
final class Announcements: Sendable {
  private let state = Locked(State())

  private struct State {
    var version = 0
    var batches: [Int: [EntityKey]] = [:]
  }

  var current: AnnouncedChanges {
    state.withLock { AnnouncedChanges(version: $0.version, batches: $0.batches) }
  }

  /// - Returns: its number.
  func add(_ keys: [EntityKey]) -> Int {
    state.withLock { state in
      state.version += 1
      state.batches[state.version] = keys
      return state.version
    }
  }

  /// Forgets those that all have been told of.
  func remove(_ numbers: [Int]) {
    if numbers.isEmpty { return }
    state.withLock { state in for number in numbers { state.batches[number] = nil } }
  }
}
