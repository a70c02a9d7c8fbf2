import Concord
import Dispatch
public import Foundation

/// An event in the execution of an action.
public enum ActionEvent: Sendable {
  /// The action began to run.
  case started(any ActionProxy)
  /// The action has run, or was cancelled before it began.
  case finished(any ActionProxy)

  /// The proxy of the action.
  public var proxy: any ActionProxy {
    switch self {
    case .started(let proxy), .finished(let proxy): proxy
    }
  }
}

extension Notification {
  /// The name of the notification posted when an action begins to run. The object is the ``Connect``.
  public static let ActionDidStartExecuting = Notification.Name("Concord.Connect.ActionDidStartExecuting")
  /// The name of the notification posted when an action has finished, or was cancelled before it began. The object is the ``Connect``.
  public static let ActionDidFinishExecuting = Notification.Name("Concord.Connect.ActionDidFinishExecuting")

  /// The keys of `userInfo`.
  public enum Key {
    /// The ``ActionProxy`` of the action.
    public static let ActionProxy = "ActionProxy"
  }
}

extension Notification.Name {
  /// The name of the notification that an action began to run.
  public static let ActionDidStartExecuting = Notification.ActionDidStartExecuting
  /// The name of the notification that an action has finished.
  public static let ActionDidFinishExecuting = Notification.ActionDidFinishExecuting
}

/// The delivery of events of actions to completion blocks, notifications and streams: one at a time, in order, on a
/// queue.
final class ActionNotices: Sendable {
  private let queue = DispatchQueue(label: "concord.connect.notices")
  private let state = Locked(State())

  private struct State {
    weak var source: AnyObject?
    var streams: [Int: AsyncStream<ActionEvent>.Continuation] = [:]
    var nextNumber = 0
  }

  init() {
    queue.mark()
    DispatchQueue.main.mark()
  }

  /// Sets the object of the notifications.
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
    let (stream, continuation) = AsyncStream<ActionEvent>.makeStream(bufferingPolicy: .bufferingNewest(1024))
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

  /// Ends all streams, after the events enqueued so far.
  func end() {
    queue.async {
      let streams = self.state.withLock { state in
        defer { state.streams = [:] }
        return state.streams
      }
      for stream in streams.values { stream.finish() }
    }
  }

  /// Waits until the events enqueued so far are delivered; returns at once within a delivery.
  func settle() { if !queue.isCurrent { queue.sync {} } }
}
