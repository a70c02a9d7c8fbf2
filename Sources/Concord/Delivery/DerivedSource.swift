/// A source whose value is made from another source's, without the lock.
// Unchecked, because its superclass is; it adds functions that never change.
final class DerivedSource<Base: Sendable, Value: Sendable>: ObserverSource<Value>, @unchecked Sendable {
  let base: ObserverSource<Base>
  /// Whether the value is only another form of the other source's.
  let isConversion: Bool
  private let transform: @Sendable (Base) -> Value
  /// A closure that tells whether two values are known to be the same.
  private let isSame: @Sendable (Value, Value) -> Bool

  /// The lock is held.
  init(
    _ base: ObserverSource<Base>, _ core: StoreCore, isSame: (@Sendable (Value, Value) -> Bool)? = nil,
    isConversion: Bool = false,
    _ transform: @escaping @Sendable (Base) -> Value
  ) {
    self.base = base
    self.isConversion = isConversion
    self.transform = transform
    self.isSame = isSame ?? { areSame($0, $1) }
    super.init(core.hubs.derivedNode, base.shared)
  }

  override var holdsNodeOnly: Bool { false }
  override var derivedValue: Value { transform(base.value) }
  override var isRemoved: Bool { base.isRemoved }
  override var anchors: [NodeHandle] { base.anchors }
  override func isUnborn(_ core: StoreCore) -> Bool { base.isUnborn(core) }

  override func capture(_ core: StoreCore, _ isCommitted: Bool) -> @Sendable () -> Value {
    let capture = base.capture(core, isCommitted)
    let transform = transform
    return { transform(capture()) }
  }

  override var isDerived: Bool { true }

  override func subscribeToBase(
    _ line: DeliveryLine, _ buffering: Buffering, isHere: Bool, at site: CallSite?,
    _ onChange: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    let (transform, last) = (transform, LastTold(isSame))
    return base.subscribe(line, buffering, isHere: isHere, at: site) { value in
      let present = transform(value)
      if last.changes(to: present) { onChange(present) }
    }
  }
}

/// Whether two values are known to be the same.
@Sendable func areSame<Value>(_ a: Value, _ b: Value) -> Bool {
  haveSameBits(a, b) || (equality(of: Value.self)?(a, b) ?? false)
}

/// The last value that an observer received.
// Unchecked, because the compiler cannot see that only the callbacks of one observer use it: these never overlap, and each
// happens before the next, since the line's lock is taken between them.
final class LastTold<Value>: @unchecked Sendable {
  private var value: Value?
  private let isSame: @Sendable (Value, Value) -> Bool

  init(_ isSame: @escaping @Sendable (Value, Value) -> Bool) { self.isSame = isSame }

  func changes(to new: Value) -> Bool {
    defer { value = new }
    return value.map { !isSame($0, new) } ?? true
  }
}
