/// Hands out children's newest values, occurrence by occurrence, to the places of one value.
struct PatchCursor {
  /// Which form of a child is wanted; see `Engine+Cycles`.
  enum Form { case whole, near, far }

  private let ordinals: ContiguousArray<Int32>
  private var next = 0
  private(set) var position: Int32 = 0
  private unowned(unsafe) let parent: Node
  private unowned(unsafe) let children: ChildList
  private let form: Form
  /// A place does not have its occurrences in the same order as before.
  var didReorder = false

  init(_ ordinals: ContiguousArray<Int32>, of parent: Node, children: ChildList, form: Form = .whole) {
    self.ordinals = ordinals
    self.parent = parent
    self.children = children
    self.form = form
  }

  func hasWork(before end: Int32) -> Bool { next < ordinals.count && ordinals[next] < end }

  /// Goes to where a relation begins.
  mutating func move(to position: Int32) {
    self.position = position
    while next < ordinals.count, ordinals[next] < position { next += 1 }
  }

  /// Passes `count` occurrences of `T`, calling `write` with the index among them and the value for each that needs one.
  @inline(__always)
  mutating func pass<T: Identifiable & Sendable>(
    _ count: Int, of type: T.Type = T.self, write: (Int, T) -> Void
  ) {
    let end = position + Int32(truncatingIfNeeded: count)
    while next < ordinals.count, ordinals[next] < end {
      let ordinal = ordinals[next]
      next += 1
      let child = unsafeDowncast(children.edges[Int(ordinal)].child, to: EntityNode<T>.self)
      if let value = child.shown(in: form, at: ordinal, of: parent) { write(Int(ordinal - position), value) }
    }
    position = end
  }
}
