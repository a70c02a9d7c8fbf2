import Concord

#if canImport(Network)
  import Network
#endif

/// Tells whether the network can be reached.
public protocol Reachability: Sendable {
  /// Whether it can be, now and whenever that changes. An outbox sends nothing until the first has come.
  var states: AsyncStream<Bool> { get }
}

/// What the system says of the network. Where it says nothing, as on Linux, the network counts as reachable.
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

/// A switch: for tests, and for an app that lets its user go offline.
public final class ReachabilitySwitch: Reachability {
  private let state: Locked<State>

  private struct State {
    var isReachable: Bool
    var streams: [Int: AsyncStream<Bool>.Continuation] = [:]
    var nextNumber = 0
  }

  /// Creates a switch in a position.
  public init(isReachable: Bool = true) { state = Locked(State(isReachable: isReachable)) }

  /// Whether the network counts as reachable.
  public var isReachable: Bool {
    get { state.withLock { $0.isReachable } }
    set {
      state.withLock { state in
        guard state.isReachable != newValue else { return }
        state.isReachable = newValue
        for stream in state.streams.values { stream.yield(newValue) }
      }
    }
  }

  public var states: AsyncStream<Bool> {
    let (stream, continuation) = AsyncStream<Bool>.makeStream()
    let number = state.withLock { state in
      state.nextNumber += 1
      state.streams[state.nextNumber] = continuation
      continuation.yield(state.isReachable)
      return state.nextNumber
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
    }
    return stream
  }
}
