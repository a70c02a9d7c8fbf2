import Concord
import Dispatch
public import Foundation

/// What happened to an action.
public enum ActionEvent: Sendable {
  /// It began to run.
  case started(any ActionProxy)
  /// It has finished: it ran, or was cancelled before it began.
  case finished(any ActionProxy)

  /// The proxy of the action.
  public var proxy: any ActionProxy {
    switch self {
    case .started(let proxy), .finished(let proxy): proxy
    }
  }
}

extension Notification {
  /// Posted when an action begins to run. The object is the ``Connect``.
  public static let ActionDidStartExecuting = Notification.Name("Concord.Connect.ActionDidStartExecuting")
  /// Posted when an action has finished, or was cancelled before it began. The object is the ``Connect``.
  public static let ActionDidFinishExecuting = Notification.Name("Concord.Connect.ActionDidFinishExecuting")

  /// The keys of `userInfo`.
  public enum Key {
    /// The ``ActionProxy`` of the action.
    public static let ActionProxy = "ActionProxy"
  }
}

extension Notification.Name {
  /// The same as `Notification.ActionDidStartExecuting`.
  public static let ActionDidStartExecuting = Notification.ActionDidStartExecuting
  /// The same as `Notification.ActionDidFinishExecuting`.
  public static let ActionDidFinishExecuting = Notification.ActionDidFinishExecuting
}

/// Tells what happens to actions: completion blocks, notifications and streams, one after another, in the order in which it
/// happened, on a queue of its own.
final class ActionNotices: Sendable {
  private let queue = DispatchQueue(label: "concord.connect.notices")
  private let state = Locked(State())

  private struct State {
    weak var source: AnyObject?
    var streams: [Int: AsyncStream<ActionEvent>.Continuation] = [:]
    var nextNumber = 0
  }

  init() { queue.mark() }

  /// Who posts the notifications.
  func setSource(_ source: AnyObject) { state.withLock { $0.source = source } }

  func didStart(_ execution: ActionExecution) {
    queue.async { self.tell(.started(execution), Notification.ActionDidStartExecuting) }
  }

  func didFinish(_ execution: ActionExecution, _ completion: ActionExecution.Completion?) {
    queue.async {
      completion?(execution)
      self.tell(.finished(execution), Notification.ActionDidFinishExecuting)
      execution.didTell()
    }
  }

  private func tell(_ event: ActionEvent, _ name: Notification.Name) {
    let (source, streams) = state.withLock { ($0.source, $0.streams) }
    NotificationCenter.default.post(
      name: name, object: source, userInfo: [Notification.Key.ActionProxy: event.proxy])
    for number in streams.keys.sorted() { streams[number]?.yield(event) }
  }

  /// A stream of what happens from now on.
  func stream() -> AsyncStream<ActionEvent> {
    let (stream, continuation) = AsyncStream<ActionEvent>.makeStream()
    let number = state.withLock { state in
      state.nextNumber += 1
      state.streams[state.nextNumber] = continuation
      return state.nextNumber
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
    }
    return stream
  }

  /// Ends all streams, after what was enqueued so far.
  func end() {
    queue.async {
      let streams = self.state.withLock { state in
        defer { state.streams = [:] }
        return state.streams
      }
      for stream in streams.values { stream.finish() }
    }
  }

  /// Returns when all is told that was enqueued so far; at once where that is being told.
  func settle() { if !queue.isCurrent { queue.sync {} } }
}
