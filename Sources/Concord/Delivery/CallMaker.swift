/// An observer's callback, with the value that it is to be called with.
// A struct, since a plain function would be wrapped anew wherever it is put into anything generic.
@usableFromInline struct Call: Sendable {
  @usableFromInline let make: @Sendable () -> Void

  @inlinable init(_ make: @escaping @Sendable () -> Void) { self.make = make }
}

/// Makes a call with the newest committed value; `nil` if there is nothing to tell. Holds the entity. The store's lock is held,
/// and given back where the call is to be made at once: by the store that is passed for it.
// Unchecked, because the compiler cannot see that `source` is used only while the store's lock is held.
@usableFromInline final class CallMaker: @unchecked Sendable {
  @usableFromInline typealias Run = @Sendable (StoreCore, Occasion, _ tellingNow: SharedCore?) -> Call?

  let line: DeliveryLine
  private let run: Run
  /// What holds the entity, and which `run` uses without keeping it.
  private var source: AnySource?

  init(_ line: DeliveryLine, source: AnySource? = nil, _ run: @escaping Run) {
    (self.line, self.run, self.source) = (line, run, source)
  }

  /// The subscription has ended: gives the entity up, unless what holds it has code of the user's, which is not to be destroyed with
  /// the lock. So the entity is gone for whoever asks next, also if the closure is destroyed later.
  func letGo() { if source?.holdsNodeOnly == true { source = nil } }

  func call(_ core: StoreCore, _ occasion: Occasion) -> Call? { run(core, occasion, nil) }

  /// Gives the store's lock back and calls at once, with the value on the stack; then tells what came meanwhile.
  func tellNow(_ core: StoreCore, _ shared: SharedCore) {
    _ = run(core, .change, shared)
    line.endServing()
  }
}

/// Why an observer is told something.
@usableFromInline enum Occasion {
  /// The value changed. Of a removed entity nothing is told: the last value has been.
  case change
  /// The first call, or the first after a pause: of a removed entity its last value, of one that was never committed nothing.
  case beginning
}

/// Which value is to be told.
@usableFromInline enum Presence {
  case nothing
  case current
  /// The one from before the open transaction.
  case committed
}
