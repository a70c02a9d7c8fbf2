/// A node of an ``OrderedTree``: a leaf with elements, or one with children of the same height. Only the empty list has an empty node.
// Unchecked, because the compiler cannot see that a node is changed only while nobody else has it: whoever changes one has checked
// that its reference is the only one, or has made a copy.
final class TreeNode: @unchecked Sendable {
  /// 0 for a leaf.
  let height: Int
  private(set) var elements: ContiguousArray<AnyEntry>
  private(set) var children: ContiguousArray<TreeNode>
  private(set) var count: Int
  /// The last element of the subtree, so that a search does not go down to it.
  private(set) var last: AnyEntry?

  /// The greatest number of elements, or of children.
  static var most: Int { 32 }

  init(elements: ContiguousArray<AnyEntry> = []) {
    (self.elements, children, count, height) = (elements, [], elements.count, 0)
    last = elements.last
  }

  init(children: ContiguousArray<TreeNode>) {
    elements = []
    self.children = children
    count = children.reduce(0) { $0 + $1.count }
    height = (children.first?.height ?? 0) + 1
    last = children.last?.last
  }

  private init(_ other: TreeNode) {
    (elements, children, count, height) = (other.elements, other.children, other.count, other.height)
    last = other.last
  }

  func copy() -> TreeNode { TreeNode(self) }

  var first: AnyEntry? {
    var node = self
    while let child = node.children.first { node = child }
    return node.elements.first
  }

  subscript(position: Int) -> AnyEntry {
    var (node, position) = (self, position)
    while node.height > 0 { node = node.children[node.child(of: &position)] }
    return node.elements[position]
  }

  /// The child that has the element at a position, which is counted from the child's beginning afterwards.
  func child(of position: inout Int) -> Int {
    var rest = position
    defer { position = rest }
    return children.withUnsafeBufferPointer { children in
      var index = 0
      while index < children.count - 1, rest >= children[index].count {
        rest -= children[index].count
        index += 1
      }
      return index
    }
  }

  /// The number of elements in the children before one.
  func count(before child: Int) -> Int {
    children.withUnsafeBufferPointer { $0[..<child].reduce(0) { $0 + $1.count } }
  }

  private var size: Int { height == 0 ? elements.count : children.count }

  /// After a change of its elements or children.
  private func noteLast() { last = height == 0 ? elements.last : children.last?.last }

  // MARK: Changing

  /// Inserts an element. Returns the second half if the node had to be split.
  ///
  /// - Parameter position: is increased by the number of elements before the inserted one.
  func insert(
    _ element: AnyEntry, _ precedes: (AnyEntry, AnyEntry) -> Bool, position: inout Int
  ) -> TreeNode? {
    count += 1
    defer { noteLast() }
    if height == 0 {
      let index = elements.boundary { precedes($0, element) }
      elements.insert(element, at: index)
      position += index
    } else {
      let index = min(
        children.boundary { child in child.last.map { precedes($0, element) } ?? true }, children.count - 1)
      position += count(before: index)
      makeUnique(index)
      if let sibling = children[index].insert(element, precedes, position: &position) {
        children.insert(sibling, at: index + 1)
      }
    }
    return size > Self.most ? split() : nil
  }

  private func split() -> TreeNode {
    let half = size / 2
    let sibling: TreeNode
    if height == 0 {
      sibling = TreeNode(elements: ContiguousArray(elements[half...]))
      elements.removeSubrange(half...)
    } else {
      sibling = TreeNode(children: ContiguousArray(children[half...]))
      children.removeSubrange(half...)
    }
    count -= sibling.count
    return sibling
  }

  /// Replaces an element by one at the same place in the order.
  func replace(at position: Int, by element: AnyEntry) {
    defer { noteLast() }
    if height == 0 { return elements[position] = element }
    var position = position
    let index = child(of: &position)
    makeUnique(index)
    children[index].replace(at: position, by: element)
  }

  func remove(at position: Int) -> AnyEntry {
    count -= 1
    defer { noteLast() }
    if height == 0 { return elements.remove(at: position) }
    var position = position
    let index = child(of: &position)
    makeUnique(index)
    let removed = children[index].remove(at: position)
    if children[index].count == 0 {
      children.remove(at: index)
    } else {
      join(around: index)
    }
    return removed
  }

  /// Joins a child with a neighbour, if both fill no more than half a node.
  private func join(around index: Int) {
    for first in [index - 1, index] where first >= 0 && first + 1 < children.count {
      guard children[first].size + children[first + 1].size <= Self.most / 2 else { continue }
      makeUnique(first)
      children[first].append(children[first + 1])
      children.remove(at: first + 1)
      return
    }
  }

  private func append(_ other: TreeNode) {
    elements += other.elements
    children += other.children
    count += other.count
    noteLast()
  }

  private func makeUnique(_ index: Int) {
    if !isKnownUniquelyReferenced(&children[index]) { children[index] = children[index].copy() }
  }

  // MARK: For tests

  /// Returns the violations of the invariants; empty if there are none.
  func _checkInvariants(isRoot: Bool = true) -> [String] {
    var problems: [String] = []
    if size > Self.most || !isRoot && size == 0 { problems.append("size \(size)") }
    if count != (height == 0 ? elements.count : children.reduce(0) { $0 + $1.count }) { problems.append("count") }
    if last !== (height == 0 ? elements.last : children.last?.last) { problems.append("last") }
    for child in children {
      if child.height != height - 1 { problems.append("height") }
      problems += child._checkInvariants(isRoot: false)
    }
    return problems
  }
}

extension ContiguousArray {
  /// The first index whose element does not precede something: all before it do.
  func boundary(of precedes: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if precedes(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
