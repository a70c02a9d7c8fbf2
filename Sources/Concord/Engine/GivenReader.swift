/// A value that a closure was given.
@usableFromInline struct Given {
  @usableFromInline let node: NodeRef
  /// Where the table has it; -1 for the value that the node has.
  @usableFromInline let staged: Int32
  /// Under which key it stood, if there are keys.
  @usableFromInline let key: AnyHashable?

  @inlinable init(node: NodeRef, staged: Int32, key: AnyHashable?) {
    self.node = node
    self.staged = staged
    self.key = key
  }
}

/// Stages values a closure was given.
@usableFromInline final class GivenReader: Walker {
  @usableFromInline let call: WriteCall
  @usableFromInline var found: ContiguousArray<Given> = []

  @usableFromInline init(call: WriteCall) {
    self.call = call
    super.init(engine: call.engine, kind: .given)
    wantsKeys = true
  }

  @inlinable func meet<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) {
    // An entity that is not stored yet may be met in what the closure made, and is then recognised.
    let node = table.nodeAwaiting(value.pointee.id)
    if !node.exists { engine.suspect(node) }
    found.append(Given(node: NodeRef(node: node), staged: call.stage(value, in: table), key: key))
  }
}

extension EntityNode {
  /// Whether the value a closure was given is another than those noted before.
  @inlinable func isNewGiven(_ staged: Int32, in call: WriteCall) -> Bool {
    let table = typedTable
    let key = ObjectIdentifier(self)
    let value = UnsafePointer(table.staged[staged])
    let isKnown = (call.givenValues[key] ?? []).contains { haveSameBits(UnsafePointer(table.staged[$0]), value) }
    if isKnown { return false }
    call.givenValues[key, default: []].append(staged)
    if flags.contains(.rooted) { call.rootedGivens.insert(key) }
    return true
  }

  @inlinable func readInside(_ staged: Int32, with reader: GivenReader) {
    let table = typedTable
    let value = table.staged[staged]
    guard let schema = table.schema(of: value) else { return }
    for relation in schema.relations { relation.walk(value, reader) }
  }
}
