/// A sorted list as a persistent tree: a copy shares all nodes with the original, and a change copies those on one path.
///
/// What two lists share is found by identity, so that their difference costs what differs: see `OrderedTree+Changes.swift`.
struct OrderedTree<Element: AnyEntry>: Sendable {
  private(set) var root = TreeNode()

  init() {}

  /// Creates a list of sorted elements. Nodes are left room to grow.
  ///
  /// - Complexity: the number of elements.
  init(sorted elements: ContiguousArray<AnyEntry>) {
    let size = TreeNode.most * 3 / 4
    var nodes: ContiguousArray<TreeNode> = []
    for start in stride(from: 0, to: elements.count, by: size) {
      nodes.append(TreeNode(elements: ContiguousArray(elements[start..<Swift.min(start + size, elements.count)])))
    }
    while nodes.count > 1 {
      nodes = ContiguousArray(
        stride(from: 0, to: nodes.count, by: size).map { start in
          TreeNode(children: ContiguousArray(nodes[start..<Swift.min(start + size, nodes.count)]))
        })
    }
    if let only = nodes.first { root = only }
  }

  var count: Int { root.count }
  var isEmpty: Bool { root.count == 0 }
  var first: Element? { root.first?.known(as: Element.self) }

  /// The element at a position.
  ///
  /// - Complexity: the logarithm of the number of elements.
  subscript(position: Int) -> Element { root[position].known(as: Element.self) }

  /// The first element that does not precede something, with its position; all before it do.
  ///
  /// - Complexity: the logarithm of the number of elements, in calls of `precedes`.
  func first(notBefore precedes: (AnyEntry) -> Bool) -> (element: Element, position: Int)? {
    var (node, position) = (root, 0)
    while node.height > 0 {
      let index = node.children.boundary { $0.last.map(precedes) ?? true }
      guard index < node.children.count else { return nil }
      position += node.count(before: index)
      node = node.children[index]
    }
    let index = node.elements.boundary(of: precedes)
    return index < node.elements.count ? (node.elements[index].known(as: Element.self), position + index) : nil
  }

  /// Inserts an element, and returns its position.
  @discardableResult
  mutating func insert(_ element: Element, _ precedes: (AnyEntry, AnyEntry) -> Bool) -> Int {
    makeRootUnique()
    var position = 0
    if let sibling = root.insert(element, precedes, position: &position) {
      root = TreeNode(children: [root, sibling])
    }
    return position
  }

  /// Removes an element; `isIt` recognises it. Returns its position; `nil` if it was not found.
  ///
  /// A type may order its own values as it likes, or not at all: then all elements are searched.
  @discardableResult
  mutating func remove(where isIt: (Element) -> Bool, notBefore precedes: (AnyEntry) -> Bool) -> Int? {
    if let found = first(notBefore: precedes), isIt(found.element) {
      remove(at: found.position)
      return found.position
    }
    var position = 0
    for element in self {
      if isIt(element) {
        remove(at: position)
        return position
      }
      position += 1
    }
    return nil
  }

  /// Replaces the element at a position by one that has the same place in the order.
  mutating func replace(at position: Int, by element: Element) {
    makeRootUnique()
    root.replace(at: position, by: element)
  }

  @discardableResult
  mutating func remove(at position: Int) -> Element {
    makeRootUnique()
    let removed = root.remove(at: position)
    while root.height > 0, root.children.count == 1 { root = root.children[0] }
    if root.count == 0 { root = TreeNode() }
    return removed.known(as: Element.self)
  }

  // A node that nobody else has is changed in place.
  private mutating func makeRootUnique() { if !isKnownUniquelyReferenced(&root) { root = root.copy() } }
}

extension OrderedTree: Sequence {
  /// An iterator over the elements, in order.
  struct Iterator: IteratorProtocol {
    private var path: [(node: TreeNode, next: Int)] = []
    private var leaf: ContiguousArray<AnyEntry> = []
    private var index = 0

    /// Begins at a position.
    init(_ root: TreeNode, from position: Int = 0) {
      var (node, position) = (root, position)
      while node.height > 0 {
        let next = node.child(of: &position)
        path.append((node, next + 1))
        node = node.children[next]
      }
      (leaf, index) = (node.elements, position)
    }

    mutating func next() -> Element? {
      while index >= leaf.count {
        while let last = path.last, last.next == last.node.children.count { path.removeLast() }
        guard let last = path.last else { return nil }
        path[path.count - 1].next += 1
        var node = last.node.children[last.next]
        while node.height > 0 {
          path.append((node, 1))
          node = node.children[0]
        }
        (leaf, index) = (node.elements, 0)
      }
      defer { index += 1 }
      return leaf[index].known(as: Element.self)
    }
  }

  var underestimatedCount: Int { count }

  func makeIterator() -> Iterator { Iterator(root) }
}
