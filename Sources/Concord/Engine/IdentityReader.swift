/// Which entity stands in a place, and under which key, if there are keys.
@usableFromInline struct Identity: Hashable {
  /// `nil` where an optional place is.
  @usableFromInline let node: ObjectIdentifier?
  @usableFromInline let key: AnyHashable?

  @inlinable init(node: ObjectIdentifier?, key: AnyHashable?) {
    self.node = node
    self.key = key
  }
}

/// Tells which entities stand in a value.
@usableFromInline final class IdentityReader: Walker {
  @usableFromInline var found: [Identity] = []

  @usableFromInline init(engine: Engine) {
    super.init(engine: engine, kind: .identity)
    wantsKeys = true
  }

  @inlinable func meet<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) {
    let node = table.nodeAwaiting(value.pointee.id)
    if !node.exists { engine.suspect(node) }
    found.append(Identity(node: ObjectIdentifier(node), key: key))
  }
}
