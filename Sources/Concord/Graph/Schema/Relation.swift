/// A relation, whatever the type that has it: what is done often is done without knowing that.
///
/// What it calls is told where the property lies, and so captures nothing: it is made for each type, and small.
@usableFromInline class AnyRelation {
  /// Where the property lies in the value, if it is stored.
  @usableFromInline final let offset: Int
  /// Visits each entity in the place, in the value that a node has. `nil` if the property is not stored.
  @usableFromInline final let visitOwn: ((_ offset: Int, Node, Visitor) -> Void)?
  /// Writes newer values there.
  @usableFromInline final let patchOwn: ((_ offset: Int, Node, inout PatchCursor) -> Void)?

  @usableFromInline init(
    offset: Int, visitOwn: ((Int, Node, Visitor) -> Void)?, patchOwn: ((Int, Node, inout PatchCursor) -> Void)?
  ) {
    self.offset = offset
    self.visitOwn = visitOwn
    self.patchOwn = patchOwn
  }
}

/// One place in `Root` where entities stand: how to visit them there, write newer values, remove and leave them out.
@usableFromInline class Relation<Root>: AnyRelation {
  /// Visits each entity in the place, in a fixed order. Specialised for the types where the property is stored.
  @usableFromInline final let visitStored: ((_ offset: Int, Root, Visitor) -> Void)?
  /// Goes through the place in the same order and writes newer values where the cursor has some.
  @usableFromInline final let patchStored: ((_ offset: Int, inout Root, inout PatchCursor) -> Void)?

  @usableFromInline init(
    offset: Int = 0, visit: ((Int, Root, Visitor) -> Void)? = nil,
    patch: ((Int, inout Root, inout PatchCursor) -> Void)? = nil,
    visitOwn: ((Int, Node, Visitor) -> Void)? = nil, patchOwn: ((Int, Node, inout PatchCursor) -> Void)? = nil
  ) {
    visitStored = visit
    patchStored = patch
    super.init(offset: offset, visitOwn: visitOwn, patchOwn: patchOwn)
  }

  @inlinable @inline(__always) final func visit(_ root: Root, _ visitor: Visitor) {
    if let visitStored { visitStored(offset, root, visitor) } else { visitComputed(root, visitor) }
  }

  @inlinable @inline(__always) final func patch(_ root: inout Root, _ cursor: inout PatchCursor) {
    if let patchStored { patchStored(offset, &root, &cursor) } else { patchComputed(&root, &cursor) }
  }

  @usableFromInline func visitComputed(_ root: Root, _ visitor: Visitor) {}
  @usableFromInline func patchComputed(_ root: inout Root, _ cursor: inout PatchCursor) {}
  /// Removes the occurrences of removed entities; `false` if one of them cannot go.
  func remove(from root: inout Root, _ cursor: RemovalCursor) -> Bool { true }
  /// Whether the two are known, at little cost, to be the same: `false` may only mean that one has to look.
  func isIdentical(_ a: Root, _ b: Root) -> Bool { true }
  /// Copies the whole place from one value to another.
  func copy(_ source: Root, into root: inout Root) {}
  /// Writes the entities that stand in the place of another value of the same shape; `false` if the shapes differ.
  func transplant(_ source: Root, into root: inout Root, _ graph: Graph) -> Bool { true }
  /// Leaves the place out, as far as that can be.
  func omit(in root: inout Root, _ graph: Graph) {}
  func omission(in root: Root) -> Omission { .none }
  func forgetOmission(in root: inout Root) {}
  /// Whether the place is `nil` or an empty collection.
  func isMissing(in root: Root) -> Bool { false }
  /// Whether the place has the very storage of a collection that was left out.
  final func isOmitted(in root: Root) -> Bool {
    if case .never = canOmit { return false }
    if case .omitted = omission(in: root) { return true }
    return false
  }

  /// Whether the places of two values are the same: by `==` if there is one, else by their bits.
  func isSame(_ a: Root, _ b: Root) -> Bool { true }
  /// Whether the place can be left out as a whole.
  var canOmit: Omittability { .never }
  /// Whether any occurrence can be removed, whatever the value.
  var canAlwaysRemove: Bool { false }
  var order: PlaceOrder { .elements }
  /// Reading it again gives what was written: no getter, setter or observer comes between.
  var isStored: Bool { true }
}

@usableFromInline final class PlaceRelation<Root, P: Place>: Relation<Root> {
  private let keyPath: WritableKeyPath<Root, P.Value>
  private let stored: StoredProperty<Root, P.Value>?

  @usableFromInline init(
    _ keyPath: WritableKeyPath<Root, P.Value>, stored: StoredProperty<Root, P.Value>?,
    visit: ((Int, Root, Visitor) -> Void)? = nil, patch: ((Int, inout Root, inout PatchCursor) -> Void)? = nil,
    visitOwn: ((Int, Node, Visitor) -> Void)? = nil, patchOwn: ((Int, Node, inout PatchCursor) -> Void)? = nil
  ) {
    self.keyPath = keyPath
    self.stored = stored
    super.init(offset: stored?.offset ?? 0, visit: visit, patch: patch, visitOwn: visitOwn, patchOwn: patchOwn)
  }

  @usableFromInline override func visitComputed(_ root: Root, _ visitor: Visitor) {
    P.visit(root[keyPath: keyPath], visitor)
  }

  @usableFromInline override func patchComputed(_ root: inout Root, _ cursor: inout PatchCursor) {
    // A setter or an observer may do more than it is told; where nothing is newer it is not called.
    var value = root[keyPath: keyPath]
    if cursor.writes({ P.patch(&value, &$0) }) { root[keyPath: keyPath] = value }
    cursor.mustVisitAgain = true
  }

  override func remove(from root: inout Root, _ cursor: RemovalCursor) -> Bool {
    P.remove(from: &root[keyPath: keyPath], cursor)
  }

  override func isIdentical(_ a: Root, _ b: Root) -> Bool {
    if stored?.hasSameBits(a, b) ?? P.isIdentical(a[keyPath: keyPath], b[keyPath: keyPath]) { return true }
    // The memory of an optional that is `nil` may hold anything.
    return isNil(a[keyPath: keyPath]) && isNil(b[keyPath: keyPath])
  }

  override func copy(_ source: Root, into root: inout Root) { root[keyPath: keyPath] = source[keyPath: keyPath] }

  override func transplant(_ source: Root, into root: inout Root, _ graph: Graph) -> Bool {
    P.transplant(source[keyPath: keyPath], into: &root[keyPath: keyPath], graph)
  }

  override func omit(in root: inout Root, _ graph: Graph) { P.omit(&root[keyPath: keyPath], graph) }
  override func omission(in root: Root) -> Omission { P.omission(of: root[keyPath: keyPath]) }
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
  // A setter may refuse in the end, which is seen when it has been called.
  override var canAlwaysRemove: Bool { P.canAlwaysRemove }
  override var order: PlaceOrder { P.order }
  override var isStored: Bool { stored != nil }
}

/// Makes the relation, where its types are known.
@inlinable func makeRelation<Root, P: Place>(
  _ place: P.Type, at keyPath: WritableKeyPath<Root, P.Value>
) -> Relation<Root> {
  guard let stored = StoredProperty(keyPath) else {
    return PlaceRelation<Root, P>(keyPath, stored: nil)
  }
  return PlaceRelation<Root, P>(
    keyPath, stored: stored,
    visit: { offset, root, visitor in StoredProperty(offset: offset).read(root) { P.visit($0, visitor) } },
    patch: { offset, root, cursor in StoredProperty(offset: offset).modify(&root) { P.patch(&$0, &cursor) } },
    visitOwn: { offset, node, visitor in
      guard let root = node.typed(Root.self)?.value else { return }
      StoredProperty(offset: offset).read(root) { P.visit($0, visitor) }
    },
    patchOwn: { offset, node, cursor in
      guard let node = node.typed(Root.self), var root = node.value.take() else { return }
      StoredProperty(offset: offset).modify(&root) { P.patch(&$0, &cursor) }
      node.value = root
    })
}
