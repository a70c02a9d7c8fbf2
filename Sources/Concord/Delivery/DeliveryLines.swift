import Dispatch
import Synchronization

/// The lines in which a store's observers are called.
@usableFromInline final class DeliveryLines: Sendable {
  /// The store's own line: on the queue that it was made with, or on the committing thread.
  @usableFromInline let store: DeliveryLine
  /// The line of observers on the main actor.
  @usableFromInline let main: DeliveryLine
  /// The line of streams, which run no code of the user's.
  @usableFromInline let direct = DeliveryLine(.committingThread)
  /// The lines of actors that have work. There may be many such lines.
  private let waiting = WaitingLines()
  private let lock = Lock()
  // Unsafe to the compiler, which cannot see that it is used only while `lock` is held.
  nonisolated(unsafe) private var actorLines: [ObjectIdentifier: WeakLine] = [:]
  /// The number of lines at which released ones are removed: twice the number that was left the last time.
  // Unsafe to the compiler for the same reason: used only while `lock` is held.
  nonisolated(unsafe) private var actorLimit = 16

  private struct WeakLine { weak var line: DeliveryLine? }

  /// Creates the lines of a store.
  ///
  /// - Parameter queue: the store's own; `nil` for the committing thread.
  init(queue: DispatchQueue?) {
    DispatchQueue.main.mark()
    if let queue {
      store = DeliveryLine(.queue(queue))
      main = queue.isSame(as: .main) ? store : DeliveryLine(.queue(.main))
    } else {
      store = DeliveryLine(.committingThread)
      main = DeliveryLine(.queue(.main))
    }
  }

  /// Returns the line of a callback that belongs to an actor, or to none, and whether its first call may be made at once by
  /// the caller.
  @usableFromInline func line(of owner: (any Actor)?, calledFrom caller: (any Actor)?) -> (DeliveryLine, isHere: Bool) {
    guard let owner else { return (store, true) }
    return (line(of: owner), caller === owner || (owner === MainActor.shared && DispatchQueue.main.isCurrent))
  }

  /// Returns the line of an actor, which exists as long as it has subscribers.
  private func line(of actor: any Actor) -> DeliveryLine {
    if actor === MainActor.shared { return main }
    return lock.withLock {
      if let line = actorLines[ObjectIdentifier(actor)]?.line, line.isOf(actor) { return line }
      if actorLines.count >= actorLimit {
        actorLines = actorLines.filter { $0.value.line != nil }
        actorLimit = max(16, 2 * actorLines.count)
      }
      let line = DeliveryLine(.actor(WeakActor(actor)), waitsIn: waiting)
      actorLines[ObjectIdentifier(actor)] = WeakLine(line: line)
      return line
    }
  }

  private var linesOfActors: [DeliveryLine] {
    lock.withLock { actorLines.values.compactMap(\.line) }
  }

  /// Delivers the waiting notices. To be called without any lock.
  @usableFromInline func deliver() {
    if store.hasWork { store.deliver() }
    if direct.hasWork { direct.deliver() }
    if main !== store, main.hasWork { main.deliver() }
    for line in waiting.takeAll() { line.deliver() }
  }

  /// Returns when all notices enqueued so far have been delivered.
  func settle() async {
    for line in [store, direct, main] + linesOfActors {
      await withCheckedContinuation { continuation in line.enqueueBarrier { continuation.resume() } }
    }
  }
}
