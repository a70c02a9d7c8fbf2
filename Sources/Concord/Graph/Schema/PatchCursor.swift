/// A cursor that supplies children's newest values, occurrence by occurrence, to the places of one value.
///
/// Each occurrence is checked by its id: if the place contains another entity than when the value was visited, the cursor
/// finds that by its id, and notes that the value is to be visited again.
@usableFromInline struct PatchCursor {
  /// The parent whose value is patched.
  private let parent: Borrowed<Node>
  private let children: Borrowed<ChildList>?
  /// Whether the parent shows the newest whole values of its children: it is in no cycle, and no older values are read.
  @usableFromInline let showsWhole: Bool
  /// The stale ordinals, ascending; `nil` to find all entities by their ids.
  @usableFromInline let stale: ContiguousArray<Int32>?
  private let forms: Borrowed<ChildForms>
  private var next = 0
  private var position: Int32 = 0
  /// Whether the value is to be visited again, because its relations may have changed.
  @usableFromInline var mustVisitAgain = false
  /// Whether a newer value was supplied.
  @usableFromInline var hasWritten = false

  /// Creates a cursor, which is valid as long as the caller retains the arguments.
  init(parent: Node, children: ChildList?, stale: ContiguousArray<Int32>?, forms: ChildForms) {
    self.parent = Borrowed(parent)
    self.children = children.map { Borrowed($0) }
    self.stale = stale
    self.forms = Borrowed(forms)
    showsWhole = forms is Refresher && parent.links?.component == nil
  }

  @usableFromInline var graph: Graph { forms.use { $0.graph } }

  /// Runs a closure. Returns whether a newer value was supplied in it.
  mutating func writes(_ body: (inout PatchCursor) -> Void) -> Bool {
    let before = hasWritten
    hasWritten = false
    body(&self)
    defer { hasWritten = hasWritten || before }
    return hasWritten
  }

  /// Whether there is anything to write before an ordinal.
  func hasWork(before end: Int32) -> Bool { stale.map { next < $0.count && $0[next] < end } ?? true }

  /// Moves the cursor to the beginning of a relation.
  mutating func move(to position: Int32) {
    self.position = position
    guard let stale else { return }
    while next < stale.count, stale[next] < position { next += 1 }
  }

  /// Passes one occurrence. Returns its newest value, if it is stale.
  @usableFromInline mutating func newer<T: Identifiable & Sendable>(than value: T) -> T? {
    let ordinal = begin(1)
    return nextStale(since: ordinal, count: 1) == nil ? nil : newer(than: value, at: ordinal)
  }

  /// Passes several occurrences. Returns the ordinal of the first.
  @usableFromInline mutating func begin(_ count: Int) -> Int {
    defer { position += Int32(truncatingIfNeeded: count) }
    if stale == nil { next = 0 }
    return Int(position)
  }

  /// Returns the next stale one among `count` occurrences, counted from `start`.
  @usableFromInline mutating func nextStale(since start: Int, count: Int) -> Int? {
    guard let stale else {
      defer { next += 1 }
      return next < count ? next : nil
    }
    guard next < stale.count, Int(stale[next]) < start + count, Int(stale[next]) >= start else { return nil }
    defer { next += 1 }
    return Int(stale[next]) - start
  }

  /// Returns the newest value for the occurrence at an ordinal, which has `value` now; `nil` if that is the newest.
  @inlinable @inline(never)
  mutating func newer<T: Identifiable & Sendable>(than value: T, at ordinal: Int) -> T? {
    guard showsWhole, let child = child(at: ordinal)?.typed(T.self), child.use({ $0.hasID(value.id) }) else {
      return searchNewer(than: value, at: ordinal)
    }
    guard let newest = child.use({ $0.value }), !haveSameBits(newest, value) else { return nil }
    hasWritten = true
    return newest
  }

  /// Returns the child that was at an ordinal when the value was visited, and which the parent's edge retains.
  @usableFromInline func child(at ordinal: Int) -> Borrowed<Node>? {
    guard stale != nil else { return nil }
    return children?.use { ordinal < $0.edges.count ? Borrowed($0.edges[ordinal].child) : nil }
  }

  @usableFromInline mutating func searchNewer<T: Identifiable & Sendable>(than value: T, at ordinal: Int) -> T? {
    if let child = child(at: ordinal)?.typed(T.self), child.use({ $0.hasID(value.id) }) {
      return child.use { newest(of: $0, otherThan: value) }
    }
    mustVisitAgain = true
    guard let child = graph.table(T.self).find(value.id), forms.use({ $0.exists(child) }) else { return nil }
    return newest(of: child, otherThan: value)
  }
}

extension PatchCursor {
  private mutating func newest<T: Identifiable & Sendable>(of child: EntityNode<T>, otherThan shown: T) -> T? {
    let value = forms.use { forms in parent.use { forms.value(of: child, in: $0) } }
    guard let newest = value, !haveSameBits(newest, shown) else { return nil }
    hasWritten = true
    return newest
  }
}
