/// A node with a value.
// Unchecked, because `value` is used only while the engine's lock is held, as `Node`'s fields are.
@usableFromInline class ValueNode<Value>: Node, @unchecked Sendable {
  /// The newest value; `nil` only while the entity is awaited for the first time. What it shows of its children may be
  /// old (`isDirty`). A removed entity keeps its last value for those who observe it.
  @exclusivity(unchecked) @usableFromInline final var value: Value?

  @inlinable init(table: AnyTable, value: Value?) {
    self.value = value
    super.init(table: table)
  }
}

/// The node of an entity of type `T`.
// Unchecked, because its class above is; it adds no field.
@usableFromInline final class EntityNode<T: Identifiable & Sendable>: ValueNode<T>, @unchecked Sendable {
  @inlinable @inline(__always) var typedTable: Table<T> { unsafeDowncast(table, to: Table<T>.self) }

  /// Works with the table without counting the reference.
  @inlinable @inline(__always) func withTypedTable<R>(_ body: (Table<T>) -> R) -> R {
    Unmanaged<Table<T>>.fromOpaque(tableReference.toOpaque())._withUnsafeGuaranteedRef(body)
  }

  @inlinable @inline(__always) var isAggregate: Bool { withTypedTable { $0.isAggregate } }

  @inlinable @inline(__always) func hasID(_ id: T.ID) -> Bool {
    guard value != nil else { return false }
    // By address, so that the value is not copied to read its id.
    return withUnsafePointer(to: &value) { $0.at(0, as: T.self).pointee.id == id }
  }

  @inlinable func holdsBits(of other: UnsafePointer<T>) -> Bool {
    guard value != nil else { return false }
    return withUnsafePointer(to: &value) { haveSameBits($0.at(0, as: T.self), other) }
  }

  /// Whether `other` is the same as the value held: by `==` if there is one, else by its bits.
  @inlinable func isSame(as other: UnsafePointer<T>) -> Bool {
    guard value != nil else { return false }
    return withUnsafePointer(to: &value) {
      let own = UnsafePointer($0.at(0, as: T.self))
      return haveSameBits(own, other) || withTypedTable { $0.isEqual?(own, other) ?? false }
    }
  }

  /// Exchanges the values without counting references; there is one.
  @inlinable @inline(__always) func swapValue(with other: inout T) {
    withUnsafeMutablePointer(to: &value) { swap(&$0.at(0, as: T.self).pointee, &other) }
  }

  // MARK: Renewing what is shown of the children

  @inlinable func patchChildren() {
    guard let children, value != nil, let schema = children.schema as? Schema<T> else { return }
    let ordinals = children.dirty.ordinals()
    children.dirty.removeAll()
    children.adopted = 0
    let cursor = withUnsafeMutablePointer(to: &value) {
      schema.patch($0.at(0, as: T.self), of: self, children: children, ordinals: ordinals)
    }
    for ordinal in ordinals { children.edges[Int(ordinal)].child.flags.remove(.marked) }
    if cursor.didReorder { rereadOrder() }
  }

  /// After a set was renewed its elements stand in another order.
  @inlinable func rereadOrder() {
    guard let children, let schema = children.schema as? Schema<T>, let value else { return }
    let (nodes, _, ends) = withUnsafePointer(to: value) { schema.read($0, in: table.engine) }
    table.engine.setChildren(of: self, schema: schema, nodes: nodes, ends: ends)
  }

  /// The value of this child as `parent` is to show it.
  @inlinable func shown(in form: PatchCursor.Form, at ordinal: Int32, of parent: Node) -> T? {
    guard form != .whole, flags.contains(.rooted), let forms else { return value }
    let isNearest = form == .near && children?.treeParent === parent && children?.treeOrdinal == ordinal
    return isNearest ? forms.near : forms.far
  }

  // MARK: Forms inside cycles

  @inlinable var forms: CycleForms<T>? {
    get { children?.forms.map { unsafeDowncast($0, to: CycleForms<T>.self) } }
    set { children?.forms = newValue }
  }

  @inlinable func makeNear(asRoot: Bool) {
    guard let children, let schema = children.schema as? Schema<T>, var near = value else { return }
    let all = ContiguousArray(0..<Int32(children.edges.count))
    let cursor = schema.patch(&near, of: self, children: children, ordinals: all, form: .near)
    if asRoot {
      value = near
      children.dirty.removeAll()
      children.adopted = 0
      if cursor.didReorder { rereadOrder() }
    } else {
      let forms = self.forms ?? CycleForms()
      forms.near = near
      self.forms = forms
    }
  }

  @inlinable func makeFar(leavingOut ordinals: [Int32]) {
    guard let children, let schema = children.schema as? Schema<T>, var far = value else { return }
    let all = ContiguousArray(0..<Int32(children.edges.count))
    _ = schema.patch(&far, of: self, children: children, ordinals: all, form: .far)
    var cursor = RemovalCursor(ordinals, of: children, engine: table.engine)
    _ = schema.takeOut(from: &far, &cursor, children: children)
    let forms = self.forms ?? CycleForms()
    forms.far = far
    self.forms = forms
  }

  @inlinable func requiredOccurrences(among ordinals: [Int32]) -> [Int32] {
    guard let children, let schema = children.schema as? Schema<T>, var trial = value else { return [] }
    var cursor = RemovalCursor(ordinals, of: children, engine: table.engine)
    _ = schema.takeOut(from: &trial, &cursor, children: children)
    return cursor.required
  }

  // MARK: Taking occurrences out

  @inlinable func removeOccurrences(_ ordinals: [Int32], in engine: Engine) -> Bool {
    guard let children, let schema = children.schema as? Schema<T>, var rest = value else { return false }
    var cursor = RemovalCursor(ordinals, of: children, engine: engine)
    guard schema.takeOut(from: &rest, &cursor, children: children) else { return false }
    engine.journal(self)
    value = rest
    // What a value with fewer entities declares may differ, as a wrapper's relations do.
    let newSchema = typedTable.schema(of: &rest) ?? schema
    let (nodes, isCurrent, ends) = newSchema.read(&rest, in: engine)
    engine.setChildren(of: self, schema: newSchema, nodes: nodes, ends: ends)
    for (ordinal, current) in isCurrent.enumerated() where !current { engine.showsOld(self, Int32(ordinal)) }
    return true
  }

  @inlinable func releaseEntry(for logger: any EntityStoreLogger) -> (() -> Void)? {
    guard let id = value?.id else { return nil }
    return { logger.didRelease(T.self, id: id) }
  }
}

/// The two shapes of an entity in a cycle, while a value is made that contains it.
@usableFromInline final class CycleForms<T> {
  /// At its occurrence nearest to what is read: with its relations.
  @exclusivity(unchecked) @usableFromInline var near: T?
  /// Elsewhere: without its relations into the cycle.
  @exclusivity(unchecked) @usableFromInline var far: T?

  @inlinable init() {}
}
