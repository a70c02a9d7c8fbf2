/// A list in blocks of blocks, in which a change of one element moves few elements, and notes the changed blocks.
///
/// A leaf has up to 64 elements, a branch up to 64 leaves; the list has as many branches as it needs, each of which
/// has, on the average, a thousand elements or more. No block is empty, and after a removal two neighbouring blocks
/// together hold more than half a block.
final class BlockList<Element> {
  /// A run of elements.
  final class Leaf {
    let id: Int
    fileprivate(set) var elements: [Element]

    fileprivate init(_ id: Int, _ elements: [Element]) { (self.id, self.elements) = (id, elements) }
  }

  /// A run of leaves.
  final class Branch {
    let id: Int
    fileprivate(set) var leaves: [Leaf]
    fileprivate(set) var count: Int

    fileprivate init(_ id: Int, _ leaves: [Leaf]) {
      (self.id, self.leaves) = (id, leaves)
      count = leaves.reduce(0) { $0 + $1.elements.count }
    }
  }

  private(set) var branches: [Branch] = []
  private(set) var count = 0
  private var lastID = 0
  /// The blocks that were changed, made or removed since they were last taken.
  private var touched: Set<Int> = []

  private static var most: Int { 64 }

  private struct Place {
    var branch: Int
    var leaf: Int
    var offset: Int
  }

  // MARK: Reading

  /// All elements, in order.
  var elements: [Element] {
    var found: [Element] = []
    found.reserveCapacity(count)
    for branch in branches { for leaf in branch.leaves { found += leaf.elements } }
    return found
  }

  /// The element at a position.
  ///
  /// - Complexity: the number of branches, and a constant.
  subscript(position: Int) -> Element {
    let place = place(of: position)
    return branches[place.branch].leaves[place.leaf].elements[place.offset]
  }

  /// The first position whose element does not precede something; the number of elements, if all do.
  ///
  /// - Complexity: the logarithm of the number of elements, in calls of `precedes`.
  func position(where precedes: (Element) -> Bool) -> Int {
    func doesPrecede(_ leaf: Leaf) -> Bool { leaf.elements.last.map(precedes) ?? true }
    let branch = branches.boundary { $0.leaves.last.map(doesPrecede) ?? true }
    guard branch < branches.count else { return count }
    let leaf = branches[branch].leaves.boundary(of: doesPrecede)
    let before = branches[..<branch].reduce(0) { $0 + $1.count }
    return branches[branch].leaves[..<leaf].reduce(before) { $0 + $1.elements.count }
      + branches[branch].leaves[leaf].elements.boundary(of: precedes)
  }

  /// The blocks that were changed, made or removed since the last call.
  func takeTouched() -> Set<Int> {
    defer { touched = [] }
    return touched
  }

  /// The place of a position; of the one behind the last element the end of the last leaf.
  private func place(of position: Int) -> Place {
    var place = Place(branch: 0, leaf: 0, offset: position)
    while place.branch < branches.count - 1, place.offset >= branches[place.branch].count {
      place.offset -= branches[place.branch].count
      place.branch += 1
    }
    let leaves = branches[place.branch].leaves
    while place.leaf < leaves.count - 1, place.offset >= leaves[place.leaf].elements.count {
      place.offset -= leaves[place.leaf].elements.count
      place.leaf += 1
    }
    return place
  }

  // MARK: Changing

  private func newID() -> Int {
    lastID += 1
    touched.insert(lastID)
    return lastID
  }

  /// Replaces all elements. Blocks are left room to grow.
  func replaceAll(with elements: [Element]) {
    for branch in branches { touched.formUnion([branch.id] + branch.leaves.map(\.id)) }
    let size = Self.most * 3 / 4
    let leaves = stride(from: 0, to: elements.count, by: size).map { start in
      Leaf(newID(), Array(elements[start..<min(start + size, elements.count)]))
    }
    branches = stride(from: 0, to: leaves.count, by: size).map { start in
      Branch(newID(), Array(leaves[start..<min(start + size, leaves.count)]))
    }
    count = elements.count
  }

  /// Replaces the element at a position.
  func replace(at position: Int, with element: Element) {
    let place = place(of: position)
    let branch = branches[place.branch]
    branch.leaves[place.leaf].elements[place.offset] = element
    touched.formUnion([branch.id, branch.leaves[place.leaf].id])
  }

  /// Inserts an element before the one at a position, or at the end.
  func insert(_ element: Element, at position: Int) {
    guard count > 0 else { return replaceAll(with: [element]) }
    let place = place(of: position)
    let branch = branches[place.branch]
    let leaf = branch.leaves[place.leaf]
    leaf.elements.insert(element, at: place.offset)
    branch.count += 1
    count += 1
    touched.formUnion([branch.id, leaf.id])
    guard leaf.elements.count > Self.most else { return }
    branch.leaves.insert(Leaf(newID(), leaf.elements.splitInHalf()), at: place.leaf + 1)
    guard branch.leaves.count > Self.most else { return }
    let other = Branch(newID(), branch.leaves.splitInHalf())
    branch.count -= other.count
    branches.insert(other, at: place.branch + 1)
  }

  /// Removes the element at a position.
  @discardableResult
  func remove(at position: Int) -> Element {
    let place = place(of: position)
    let branch = branches[place.branch]
    let leaf = branch.leaves[place.leaf]
    let element = leaf.elements.remove(at: place.offset)
    branch.count -= 1
    count -= 1
    touched.formUnion([branch.id, leaf.id])
    let leaves = branch.leaves
    if let other = Self.pair(at: place.leaf, of: leaves.count, fits: { leaves[$0].elements.count }) {
      touched.formUnion([leaves[other].id, leaves[other + 1].id])
      leaves[other].elements += leaves[other + 1].elements
      branch.leaves.remove(at: other + 1)
    } else if leaf.elements.isEmpty {
      branch.leaves.remove(at: place.leaf)
    }
    if branch.leaves.isEmpty {
      branches.remove(at: place.branch)
    } else if branch.leaves.count < leaves.count,
      let other = Self.pair(at: place.branch, of: branches.count, fits: { branches[$0].leaves.count })
    {
      touched.formUnion([branches[other].id, branches[other + 1].id])
      branches[other].leaves += branches[other + 1].leaves
      branches[other].count += branches[other + 1].count
      branches.remove(at: other + 1)
    }
    return element
  }

  /// The first of two neighbours, one of which is at an index, that fill no more than half a block together.
  private static func pair(at index: Int, of count: Int, fits size: (Int) -> Int) -> Int? {
    [index - 1, index].first { $0 >= 0 && $0 + 1 < count && size($0) + size($0 + 1) <= most / 2 }
  }

  // MARK: For tests

  /// Returns the violations of the list's invariants; empty if there are none.
  func _checkInvariants() -> [String] {
    var problems: [String] = []
    if branches.reduce(0, { $0 + $1.count }) != count { problems.append("count") }
    for branch in branches {
      if branch.leaves.reduce(0, { $0 + $1.elements.count }) != branch.count { problems.append("count of a branch") }
      if branch.leaves.isEmpty || branch.leaves.count > Self.most { problems.append("size of a branch") }
      for leaf in branch.leaves where leaf.elements.isEmpty || leaf.elements.count > Self.most {
        problems.append("size of a leaf")
      }
    }
    return problems
  }
}

extension Array {
  /// The first index whose element does not precede something: all before it do.
  fileprivate func boundary(of precedes: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if precedes(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Removes the second half, and returns it.
  fileprivate mutating func splitInHalf() -> [Element] {
    let half = Array(self[(count / 2)...])
    removeSubrange((count / 2)...)
    return half
  }
}
