/// The state of a layer, shared by the store and the layer's handles. It has no reference to the store, which retains it.
final class LayerRecord: Sendable {
  /// Whether a layer whose closure does not apply waits, and is tried again, instead of being dropped.
  let waits: Bool
  private let ending: Locked<Ending>

  /// A closure that makes the layer's change, with the token of the transaction that it is made in.
  typealias Body = @Sendable (_ shared: SharedCore, _ token: UInt64) throws -> Void

  private struct Ending {
    var state = OptimisticLayer.State.pending
    /// The closure; `nil` once the layer has ended, which releases what the closure captured.
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

  /// Makes the layer's change.
  func apply(to shared: SharedCore, token: UInt64) throws {
    let body = ending.withLock { $0.body }
    try body?(shared, token)
  }

  /// Ends the layer. Returns a closure to be called after observers were notified, without a lock.
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
          // The task may have been cancelled before.
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
