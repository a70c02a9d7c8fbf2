/// A relation of any type: frequent operations do not need to know the type.
///
/// Its functions receive the address of the property, and so capture nothing: they are made for each type, and small.
@usableFromInline class AnyRelation {
  /// The offset of the property in the value, if it is stored.
  @usableFromInline final let offset: Int
  /// The size of the property in bytes.
  final let size: Int
  /// A function that visits each entity in the property at an address, in a fixed order. Specialised for the types; `nil` if
  /// the property is not stored.
  @usableFromInline final let visitAt: ((UnsafeRawPointer, Visitor) -> Void)?
  /// A function that walks through the property in the same order, and writes the newer values that the cursor has.
  @usableFromInline final let patchAt: ((UnsafeMutableRawPointer, inout PatchCursor) -> Void)?

  @usableFromInline init(
    offset: Int = 0, size: Int = 0, visit: ((UnsafeRawPointer, Visitor) -> Void)? = nil,
    patch: ((UnsafeMutableRawPointer, inout PatchCursor) -> Void)? = nil
  ) {
    (self.offset, self.size, visitAt, patchAt) = (offset, size, visit, patch)
  }
}

/// One place in `Root` that contains entities, with the operations to visit, patch, remove and omit them.
@usableFromInline class Relation<Root>: AnyRelation {
  @usableFromInline func visitComputed(_ root: Root, _ visitor: Visitor) {}
  @usableFromInline func patchComputed(_ root: inout Root, _ cursor: inout PatchCursor) {}
  /// Removes the occurrences of removed entities. Returns `false` if one of them cannot be removed.
  func remove(from root: inout Root, _ cursor: RemovalCursor) -> Bool { true }
  /// Whether the values at two addresses are known, at little cost, to have the same in the place. `false` may mean that they
  /// have to be compared.
  func isIdentical(at a: UnsafePointer<Root>, _ b: UnsafePointer<Root>) -> Bool { true }
  /// Copies the whole place from one value to another.
  func copy(_ source: Root, into root: inout Root) {}
  /// Copies the entities from the place of a value that has the same entities in the same places. Returns `false` if it does
  /// not.
  func transplant(_ source: Root, into root: inout Root, _ graph: Graph) -> Bool { true }
  /// Omits the place, as far as possible.
  func omit(in root: inout Root, _ graph: Graph) {}
  func omission(at root: UnsafePointer<Root>) -> Omission { .none }
  final func omission(in root: Root) -> Omission { withUnsafePointer(to: root) { omission(at: $0) } }
  func forgetOmission(in root: inout Root) {}
  /// Whether the place is `nil` or an empty collection.
  func isMissing(in root: Root) -> Bool { false }
  /// Whether the place has the storage of an omitted collection.
  final func isOmitted(in root: Root) -> Bool {
    if case .never = canOmit { return false }
    if case .omitted = omission(in: root) { return true }
    return false
  }

  /// Whether the places of two values are the same: by `==` if there is one, else by their bits.
  func isSame(_ a: Root, _ b: Root) -> Bool { true }
  /// Whether the place can be omitted as a whole.
  var canOmit: Omittability { .never }
  /// Whether any occurrence can be removed, whatever the value.
  var canAlwaysRemove: Bool { false }
  var order: PlaceOrder { .elements }
  /// Whether the entities in the place may depend on the values of other entities in the value.
  var mayDependOnEntities: Bool { false }
  /// Whether the property is stored without observers, so that a read returns what was written.
  var isStored: Bool { true }
}

@usableFromInline final class PlaceRelation<Root, P: Place>: Relation<Root> {
  private let keyPath: WritableKeyPath<Root, P.Value>
  private let stored: StoredProperty<Root, P.Value>?

  @usableFromInline init(
    _ keyPath: WritableKeyPath<Root, P.Value>, stored: StoredProperty<Root, P.Value>?,
    visit: ((UnsafeRawPointer, Visitor) -> Void)? = nil,
    patch: ((UnsafeMutableRawPointer, inout PatchCursor) -> Void)? = nil
  ) {
    self.keyPath = keyPath
    self.stored = stored
    super.init(offset: stored?.offset ?? 0, size: MemoryLayout<P.Value>.size, visit: visit, patch: patch)
  }

  @usableFromInline override func visitComputed(_ root: Root, _ visitor: Visitor) {
    P.visit(root[keyPath: keyPath], visitor)
  }

  @usableFromInline override func patchComputed(_ root: inout Root, _ cursor: inout PatchCursor) {
    // A setter or a property observer may have further effects, so it is called only if a value is newer.
    var value = root[keyPath: keyPath]
    if cursor.writes({ P.patch(&value, &$0) }) { root[keyPath: keyPath] = value }
    cursor.mustVisitAgain = true
  }

  override func remove(from root: inout Root, _ cursor: RemovalCursor) -> Bool {
    P.remove(from: &root[keyPath: keyPath], cursor)
  }

  override func isIdentical(at a: UnsafePointer<Root>, _ b: UnsafePointer<Root>) -> Bool {
    if let stored, stored.hasSameBits(at: a, b) { return true }
    // The memory of an optional that is `nil` is arbitrary.
    guard _isOptional(P.Value.self) || stored == nil else { return false }
    if let stored { return isNil(stored.pointer(in: a).pointee) && isNil(stored.pointer(in: b).pointee) }
    let (a, b) = (a.pointee[keyPath: keyPath], b.pointee[keyPath: keyPath])
    return P.isIdentical(a, b) || (isNil(a) && isNil(b))
  }

  override func copy(_ source: Root, into root: inout Root) { root[keyPath: keyPath] = source[keyPath: keyPath] }

  override func transplant(_ source: Root, into root: inout Root, _ graph: Graph) -> Bool {
    P.transplant(source[keyPath: keyPath], into: &root[keyPath: keyPath], graph)
  }

  override func omit(in root: inout Root, _ graph: Graph) { P.omit(&root[keyPath: keyPath], graph) }
  override func omission(at root: UnsafePointer<Root>) -> Omission {
    // No `map`, which would ask the runtime for the types of its optionals each time.
    if let stored { return P.omission(of: stored.pointer(in: root).pointee) }
    return P.omission(of: root.pointee[keyPath: keyPath])
  }
  override func isMissing(in root: Root) -> Bool {
    let value = root[keyPath: keyPath]
    return isNil(value) || (value as? any Collection)?.isEmpty ?? false
  }

  override func forgetOmission(in root: inout Root) { P.forgetOmission(of: &root[keyPath: keyPath]) }

  override func isSame(_ a: Root, _ b: Root) -> Bool {
    let (a, b) = (a[keyPath: keyPath], b[keyPath: keyPath])
    return haveSameBits(a, b) || (equality(of: P.Value.self)?(a, b) ?? false)
  }

  override var canOmit: Omittability {
    if case .always = P.canOmit, stored == nil { .depends } else { P.canOmit }
  }
  // A setter may still refuse, which is found when it has been called.
  override var canAlwaysRemove: Bool { P.canAlwaysRemove }
  override var order: PlaceOrder { P.order }
  override var mayDependOnEntities: Bool { stored == nil || P.mayDependOnEntities }
  override var isStored: Bool { stored != nil }
}

/// Makes a relation in code that knows its types.
@inlinable func makeRelation<Root, P: Place>(
  _ place: P.Type, at keyPath: WritableKeyPath<Root, P.Value>
) -> Relation<Root> {
  guard let stored = StoredProperty(keyPath) else {
    return PlaceRelation<Root, P>(keyPath, stored: nil)
  }
  return PlaceRelation<Root, P>(
    keyPath, stored: stored,
    visit: StoredProperty<Root, P.Value>.visit(P.self), patch: StoredProperty<Root, P.Value>.patch(P.self))
}
