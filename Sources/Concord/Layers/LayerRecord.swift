/// A layer, as the store has it, and as its handles see it. It does not know the store, which keeps it.
final class LayerRecord: Sendable {
  /// Where its closure does not apply it is left out, and tried again, instead of being dropped.
  let waits: Bool
  private let ending: Locked<Ending>

  /// Makes the change, with the token of the transaction that it is made in.
  typealias Body = @Sendable (_ shared: SharedCore, _ token: UInt64) throws -> Void

  private struct Ending {
    var state = OptimisticLayer.State.pending
    /// `nil` once it has ended, since nobody is to keep what it captured any longer.
    var body: Body?
    var callbacks: [@Sendable (OptimisticLayer.State) -> Void] = []
    var waiting: [Int: CheckedContinuation<OptimisticLayer.State, Never>] = [:]
    var lastWaiting = 0
  }

  init(waits: Bool, _ body: @escaping Body) {
    self.waits = waits
    ending = Locked(Ending(body: body))
  }

  var state: OptimisticLayer.State { ending.withLock { $0.state } }

  /// Makes the change.
  func apply(to shared: SharedCore, token: UInt64) throws {
    let body = ending.withLock { $0.body }
    try body?(shared, token)
  }

  /// It has ended. Gives what is to be called when observers have been told, and without a lock.
  func end(_ state: OptimisticLayer.State) -> () -> Void {
    let (callbacks, waiting, body) = ending.withLock { ending in
      defer { ending = Ending(state: state, body: nil) }
      return (ending.callbacks, Array(ending.waiting.values), ending.body)
    }
    return {
      for callback in callbacks { callback(state) }
      for continuation in waiting { continuation.resume(returning: state) }
      withExtendedLifetime(body) {}
    }
  }

  func onEnd(_ body: @escaping @Sendable (OptimisticLayer.State) -> Void) {
    let state = ending.withLock { ending in
      if ending.state.isPending { ending.callbacks.append(body) }
      return ending.state
    }
    if !state.isPending { body(state) }
  }

  func ended() async -> OptimisticLayer.State {
    let number = ending.withLock { ending in
      ending.lastWaiting += 1
      return ending.lastWaiting
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let state = ending.withLock { ending in
          // It may have been cancelled before.
          let isOver = !ending.state.isPending || Task.isCancelled
          if !isOver { ending.waiting[number] = continuation }
          return isOver ? ending.state : nil
        }
        if let state { continuation.resume(returning: state) }
      }
    } onCancel: {
      ending.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: .pending)
    }
  }
}
