/// A node that is being brought up to date, after the children at its stale ordinals, with the progress.
struct PatchFrame {
  let node: Node
  let children: ChildList
  /// The stale ordinals: first those that lead out of the node's cycle, then those in its brief form, last all others. So the
  /// brief form is complete before entities inside the cycle show it.
  let ordinals: ContiguousArray<Int32>
  /// The ends of the first two of these parts.
  private let ends: (Int, Int)
  private(set) var next = 0
  private var part = 0

  /// Creates the frame of a node that is in no cycle, and has one part only.
  init(_ node: Node, _ children: ChildList, _ ordinals: ContiguousArray<Int32>) {
    (self.node, self.children, self.ordinals) = (node, children, ordinals)
    ends = (ordinals.count, ordinals.count)
  }

  init(
    _ node: Node, _ children: ChildList, _ ordinals: ContiguousArray<Int32>, isInside: (Int32) -> Bool,
    isOmitted: (Int32) -> Bool
  ) {
    let outside = ordinals.filter { !isInside($0) }
    let inside = ordinals.filter(isInside)
    let shown = inside.filter { !isOmitted($0) }
    (self.node, self.children) = (node, children)
    self.ordinals = ContiguousArray(outside + shown + inside.filter(isOmitted))
    ends = (outside.count, outside.count + shown.count)
  }

  private func end(ofPart part: Int) -> Int { part == 0 ? ends.0 : part == 1 ? ends.1 : ordinals.count }

  /// Whether all children of a part were visited, so that it is to be patched.
  var hasPart: Bool { part < 3 && next == end(ofPart: part) }

  mutating func takePart() -> ContiguousArray<Int32> {
    let start = part == 0 ? 0 : end(ofPart: part - 1)
    let end = end(ofPart: part)
    part += 1
    return start == 0 && end == ordinals.count ? ordinals : ContiguousArray(ordinals[start..<end])
  }

  /// Returns the next child to be brought up to date; `nil` if all were.
  mutating func nextChild() -> Node? {
    guard next < ordinals.count else { return nil }
    defer { next += 1 }
    return children.edges[Int(ordinals[next])].child
  }
}
