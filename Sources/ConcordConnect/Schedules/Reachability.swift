import Concord
import Foundation

#if canImport(Network)
  import Network
#endif

/// A source of news about whether the network can be reached.
public protocol Reachability: Sendable {
  /// The reachability of the network, now and whenever that changes. An outbox sends nothing until the first state has come.
  var states: AsyncStream<Bool> { get }
}

/// The reachability of the network as the system reports it. On Linux, which has no such report, the network counts as
/// reachable.
public struct SystemReachability: Reachability {
  /// Creates an observer of the system's network paths.
  public init() {}

  public var states: AsyncStream<Bool> {
    #if canImport(Network)
      AsyncStream { continuation in
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
        continuation.onTermination = { _ in monitor.cancel() }
        monitor.start(queue: .global())
      }
    #else
      AsyncStream { $0.yield(true) }
    #endif
  }
}

/// A reachability whose changes reach all followers before the changing call returns.
protocol ImmediateReachability: Reachability {
  /// Calls back whenever the state changes, in order, until the result is called.
  ///
  /// - Returns: what ends it.
  func follow(_ body: @escaping @Sendable (Bool) -> Void) -> @Sendable () -> Void
}

/// A switch: for tests, and for an app that lets its user go offline.
public final class ReachabilitySwitch: ImmediateReachability {
  private let state: Locked<State>
  /// The lock that keeps changes in order while they are delivered.
  private let telling = NSRecursiveLock()
  // Two that follow each other differ, so that the last two tell a slow reader all that counts: that it came back.
  private let streams = EventStreams<Bool>(keepingNewest: 2)

  private struct State {
    var isReachable: Bool
    var followers: [Int: @Sendable (Bool) -> Void] = [:]
    var nextNumber = 0

    mutating func takeNumber() -> Int {
      nextNumber += 1
      return nextNumber
    }
  }

  /// Creates a switch in a position.
  public init(isReachable: Bool = true) { state = Locked(State(isReachable: isReachable)) }

  /// Whether the network counts as reachable.
  ///
  /// Schedules that wait for it have begun when setting it returns.
  public var isReachable: Bool {
    get { state.withLock { $0.isReachable } }
    set {
      telling.lock()
      defer { telling.unlock() }
      let followers = state.withLock { state -> [@Sendable (Bool) -> Void] in
        guard state.isReachable != newValue else { return [] }
        state.isReachable = newValue
        streams.send(newValue)
        return state.followers.sorted { $0.key < $1.key }.map(\.value)
      }
      for follower in followers { follower(newValue) }
    }
  }

  /// The state now, and whenever it changes.
  public var states: AsyncStream<Bool> {
    state.withLock { streams.stream(beginningWith: $0.isReachable) }
  }

  func follow(_ body: @escaping @Sendable (Bool) -> Void) -> @Sendable () -> Void {
    let number = state.withLock { state in
      let number = state.takeNumber()
      state.followers[number] = body
      return number
    }
    return { [weak self] in self?.state.withLock { _ = $0.followers.removeValue(forKey: number) } }
  }
}
