import Concord
import Dispatch

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
