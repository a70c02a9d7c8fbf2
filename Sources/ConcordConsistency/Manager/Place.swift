import Concord
import Dispatch

/// The place where an environment is called.
enum Place: Sendable {
  case pushingThread
  case queue(DispatchQueue)
  case actor(WeakActor)

  /// Whether the calling code, isolated to `isolation`, runs at the place.
  func isHere(_ isolation: (any Actor)?) -> Bool {
    switch self {
    case .pushingThread: true
    case .queue(let queue): queue.isCurrent
    case .actor(let actor): actor.isSame(as: isolation) || (actor.isMain && DispatchQueue.main.isCurrent)
    }
  }

  func isSame(as other: Place) -> Bool {
    switch (self, other) {
    case (.pushingThread, .pushingThread): true
    case (.queue(let queue), .queue(let other)): queue.isSame(as: other)
    case (.actor(let actor), .actor(let other)): actor.isSame(as: other.actor)
    default: false
    }
  }

  /// Prepares the place, so that code can find out whether it runs there.
  func prepare() {
    switch self {
    case .pushingThread: break
    case .queue(let queue): queue.mark()
    case .actor(let actor): if actor.isMain { DispatchQueue.main.mark() }
    }
  }

  /// Runs a closure at the place: at once on the pushing thread, soon elsewhere. Returns `false`, and does not run it, if the
  /// actor was released.
  func run(_ body: @escaping @Sendable () -> Void) -> Bool {
    switch self {
    case .pushingThread: body()
    case .queue(let queue): queue.async(execute: body)
    case .actor(let reference):
      guard let actor = reference.actor else { return false }
      Task { await ConcordConsistency.run(body, on: actor) }
    }
    return true
  }

  /// The queue on which other threads can run code at the place and wait for it; actors other than the main one have none.
  var queueToWaitFor: DispatchQueue? {
    switch self {
    case .pushingThread: nil
    case .queue(let queue): queue
    case .actor(let actor): actor.isMain ? .main : nil
    }
  }
}

private func run(_ body: @Sendable () -> Void, on actor: isolated any Actor) async {
  body()
}

extension WeakActor {
  /// Whether the actor is the main actor.
  fileprivate var isMain: Bool { actor === MainActor.shared }

  /// Whether the actor is the given one, and not one that was released.
  fileprivate func isSame(as other: (any Actor)?) -> Bool { other != nil && actor === other }
}
