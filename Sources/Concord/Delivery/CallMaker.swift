/// A call of an observer's callback, with its value.
// A struct, since a plain function would be wrapped again at each use in generic code.
@usableFromInline struct Call: Sendable {
  @usableFromInline let make: @Sendable () -> Void

  @inlinable init(_ make: @escaping @Sendable () -> Void) { self.make = make }
}

/// A function that makes a call with the newest committed value, or `nil` if there is none to deliver, together with the
/// source that holds the entity. The store's lock is held, and released by the passed store where the call is made at once.
// Unchecked, because the compiler cannot see that `source` is used only while the store's lock is held.
@usableFromInline final class CallMaker: @unchecked Sendable {
  @usableFromInline typealias Run = @Sendable (StoreCore, Occasion, _ tellingNow: Borrowed<SharedCore>?) -> Call?

  let line: DeliveryLine
  private let run: Run
  /// The source that holds the entity, which `run` uses without retaining it.
  private(set) var source: AnySource?

  init(_ line: DeliveryLine, source: AnySource? = nil, _ run: @escaping Run) {
    (self.line, self.run, self.source) = (line, run, source)
  }

  /// Releases the entity, after the subscription has ended, unless the source has code of the user's, which must not be
  /// destroyed with the lock held. So the next reader does not find the entity, also if the closure is destroyed later.
  func letGo() { if source?.holdsNodeOnly == true { source = nil } }

  func call(_ core: StoreCore, _ occasion: Occasion) -> Call? { run(core, occasion, nil) }

  /// Releases the store's lock and calls at once, with the value on the stack; then delivers notices that were enqueued
  /// meanwhile.
  func tellNow(_ core: StoreCore, _ shared: SharedCore) {
    _ = run(core, .change, Borrowed(shared))
    line.endServing()
  }
}

/// The reason for a call of an observer.
@usableFromInline enum Occasion {
  /// The value changed. A removed entity gives no call, since its last value was delivered.
  case change
  /// The first call, or the first after a pause. A removed entity gives its last value, one that was never committed no call.
  case beginning
}

/// The value that a call delivers.
@usableFromInline enum Presence {
  case nothing
  case current
  /// The value from before the open transaction.
  case committed
}
