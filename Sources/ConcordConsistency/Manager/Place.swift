import Dispatch
import Foundation

/// Where an environment is called.
enum Place: Sendable {
  case pushingThread
  case queue(DispatchQueue)
  case actor(any Actor)

  /// Whether the code that is running, isolated to `isolation`, runs there already.
  func isHere(_ isolation: (any Actor)?) -> Bool {
    switch self {
    case .pushingThread: true
    case .queue(let queue): queue.isCurrent
    case .actor(let actor): actor === isolation || (actor === MainActor.shared && DispatchQueue.main.isCurrent)
    }
  }

  func isSame(as other: Place) -> Bool {
    switch (self, other) {
    case (.pushingThread, .pushingThread): true
    case (.queue(let queue), .queue(let other)): queue.isSame(as: other)
    case (.actor(let actor), .actor(let other)): actor === other
    default: false
    }
  }

  /// Makes it possible to find out whether code runs there.
  func prepare() {
    switch self {
    case .pushingThread: break
    case .queue(let queue): queue.mark()
    case .actor(let actor): if actor === MainActor.shared { DispatchQueue.main.mark() }
    }
  }

  /// Runs `body` there: at once on the pushing thread, soon elsewhere.
  func run(_ body: @escaping @Sendable () -> Void) {
    switch self {
    case .pushingThread: body()
    case .queue(let queue): queue.async(execute: body)
    case .actor(let actor): Task { await ConcordConsistency.run(body, on: actor) }
    }
  }

  /// The queue on which code elsewhere can have something done there and wait for it; actors but the main one have none.
  var queueToWaitFor: DispatchQueue? {
    switch self {
    case .pushingThread: nil
    case .queue(let queue): queue
    case .actor(let actor): actor === MainActor.shared ? .main : nil
    }
  }
}

private func run(_ body: @Sendable () -> Void, on actor: isolated any Actor) async {
  body()
}

/// Says which queue code runs on: the queue has it, whatever object stands for the queue. On Linux `DispatchQueue.main` is
/// another one each time.
private final class QueueMark: Sendable {}

private let key = DispatchSpecificKey<QueueMark>()

extension DispatchQueue {
  // Two threads may both do so: whichever mark stays, the queue has it wherever it is looked for.
  fileprivate func mark() {
    if getSpecific(key: key) == nil { setSpecific(key: key, value: QueueMark()) }
  }

  /// Whether code runs on the queue. The main queue may run on other threads than the main one, which ends in an
  /// `async` program on Linux; and the main thread runs before the main queue does.
  fileprivate var isCurrent: Bool {
    guard let mark = getSpecific(key: key) else { return false }
    return DispatchQueue.getSpecific(key: key) === mark
      || (Thread.isMainThread && DispatchQueue.main.getSpecific(key: key) === mark)
  }

  fileprivate func isSame(as other: DispatchQueue) -> Bool {
    getSpecific(key: key).map { $0 === other.getSpecific(key: key) } ?? (self === other)
  }
}
