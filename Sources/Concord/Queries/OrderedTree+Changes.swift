/// The differences between two lists, in the part that is looked at: offsets count from the beginning of that part.
struct TreeChanges<Element: AnyEntry> {
  typealias Change = (offset: Int, element: Element)

  var removed: ContiguousArray<Change> = []
  var inserted: ContiguousArray<Change> = []
  /// The number of nodes and elements that were looked at, for tests.
  var looks = 0

  var isEmpty: Bool { removed.isEmpty && inserted.isEmpty }
}

extension OrderedTree {
  /// Returns the elements in a range of positions that an earlier list does not have there, and those that only that has.
  ///
  /// - Parameter any: whether the first difference is enough.
  /// - Complexity: the number of differences times the logarithm of the number of elements; what both share as a whole is passed over.
  func changes(
    from old: OrderedTree, in window: Range<Int>, any: Bool = false, _ compare: (AnyEntry, AnyEntry) -> Precedence
  ) -> TreeChanges<Element> {
    var walk = ChangesWalk(old.root, root, window)
    walk.run(any: any, compare)
    var changes = TreeChanges<Element>(looks: walk.looks)
    changes.removed.reserveCapacity(walk.removed.count)
    changes.inserted.reserveCapacity(walk.inserted.count)
    for (offset, entry) in walk.removed { changes.removed.append((offset, entry.known(as: Element.self))) }
    for (offset, entry) in walk.inserted { changes.inserted.append((offset, entry.known(as: Element.self))) }
    return changes
  }
}

/// The result of a comparison.
enum Precedence { case before, same, after }

/// A walk through two sorted trees at once.
///
/// Its steps are functions of their own: put into the loop, they take the compiler longer than the rest of the queries together.
private struct ChangesWalk {
  private var old: TreeCursor
  private var new: TreeCursor
  private let window: Range<Int>
  private(set) var removed: ContiguousArray<(offset: Int, element: AnyEntry)> = []
  private(set) var inserted: ContiguousArray<(offset: Int, element: AnyEntry)> = []
  private(set) var looks = 0

  init(_ old: TreeNode, _ new: TreeNode, _ window: Range<Int>) {
    (self.old, self.new, self.window) = (TreeCursor(old), TreeCursor(new), window)
  }

  mutating func run(any: Bool, _ compare: (AnyEntry, AnyEntry) -> Precedence) {
    while old.offset < window.upperBound || new.offset < window.upperBound {
      // At the end of a node the place is in the one above.
      while passShared() {}
      if any, !removed.isEmpty || !inserted.isEmpty { return }
      looks += 1
      switch (old.item, new.item) {
      case (nil, nil): return
      case (let item?, nil): remove(item)
      case (nil, let item?): insert(item)
      case (.node(let a)?, .node(let b)?): meet(a, b, compare)
      case (.element(let a)?, .node(let b)?):
        if let first = b.first, compare(a, first) == .before { remove(.element(a)) } else { new.descend(b) }
      case (.node(let a)?, .element(let b)?):
        if let first = a.first, compare(b, first) == .before { insert(.element(b)) } else { old.descend(a) }
      case (.element(let a)?, .element(let b)?):
        let order = compare(a, b)
        if order != .after { remove(.element(a)) }
        if order != .before { insert(.element(b)) }
      }
    }
  }

  @inline(never)
  private mutating func meet(
    _ a: TreeNode, _ b: TreeNode, _ compare: (AnyEntry, AnyEntry) -> Precedence
  ) {
    if let first = a.first, let last = b.last, compare(last, first) == .before { return insert(.node(b)) }
    if let first = b.first, let last = a.last, compare(last, first) == .before { return remove(.node(a)) }
    if a.height >= b.height { old.descend(a) }
    if b.height >= a.height { new.descend(b) }
  }

  @inline(never)
  private mutating func remove(_ item: TreeCursor.Item) {
    item.forEach(at: old.offset, in: window) { removed.append(($0 - window.lowerBound, $1)) }
    old.advance(by: item.count)
  }

  @inline(never)
  private mutating func insert(_ item: TreeCursor.Item) {
    item.forEach(at: new.offset, in: window) { inserted.append(($0 - window.lowerBound, $1)) }
    new.advance(by: item.count)
  }

  /// Passes over the items that both have next. Some elements may have come into the part that is looked at, or have left it.
  ///
  /// - Returns: whether there were any.
  @inline(never)
  private mutating func passShared() -> Bool {
    let shared = old.shared(with: new)
    if shared.items == 0 { return false }
    looks += shared.items
    if old.offset != new.offset {
      let (before, after) = (visible(old.offset, shared.count), visible(new.offset, shared.count))
      for index in parts(of: before, outside: after).joined() {
        removed.append((old.offset + index - window.lowerBound, old.element(index)))
      }
      for index in parts(of: after, outside: before).joined() {
        inserted.append((new.offset + index - window.lowerBound, old.element(index)))
      }
    }
    old.advance(by: shared.count, items: shared.items)
    new.advance(by: shared.count, items: shared.items)
    return true
  }

  /// The parts of a range before and behind another. What both have, usually all, is not walked.
  private func parts(of range: Range<Int>, outside other: Range<Int>) -> [Range<Int>] {
    let end = max(range.lowerBound, min(range.upperBound, other.lowerBound))
    let start = max(range.lowerBound, min(range.upperBound, other.upperBound))
    return [range.lowerBound..<end, max(start, end)..<range.upperBound]
  }

  /// Returns the positions, among a number of elements from an offset on, that are in the window.
  private func visible(_ offset: Int, _ count: Int) -> Range<Int> {
    let start = min(max(0, window.lowerBound - offset), count)
    return start..<max(start, min(count, window.upperBound - offset))
  }
}

/// A place in a tree: at the beginning of a node, or at an element.
private struct TreeCursor {
  enum Item {
    case node(TreeNode)
    case element(AnyEntry)

    var count: Int {
      switch self {
      case .node(let node): node.count
      case .element: 1
      }
    }

    /// Calls a closure with the elements whose positions are in a range.
    func forEach(at offset: Int, in window: Range<Int>, _ body: (Int, AnyEntry) -> Void) {
      switch self {
      case .element(let element): if window.contains(offset) { body(offset, element) }
      case .node(let node):
        guard offset < window.upperBound, offset + node.count > window.lowerBound else { return }
        var elements = OrderedTree<AnyEntry>.Iterator(node, from: max(0, window.lowerBound - offset))
        var position = max(offset, window.lowerBound)
        while position < window.upperBound, let element = elements.next() {
          body(position, element)
          position += 1
        }
      }
    }
  }

  private var path: [(node: TreeNode, next: Int)]
  /// The number of elements before the place.
  private(set) var offset = 0

  init(_ root: TreeNode) { path = root.count == 0 ? [] : [(TreeNode(children: [root]), 0)] }

  var item: Item? {
    guard let (node, next) = path.last else { return nil }
    return node.height > 0 ? .node(node.children[next]) : .element(node.elements[next])
  }

  /// The items of one node, from the place on, that another place has, too, with the number of their elements.
  func shared(with other: TreeCursor) -> (items: Int, count: Int) {
    guard let (a, i) = path.last, let (b, j) = other.path.last, a.height == b.height else { return (0, 0) }
    func run<T: AnyObject>(_ a: ContiguousArray<T>, _ b: ContiguousArray<T>, _ count: (T) -> Int) -> (Int, Int) {
      a.withUnsafeBufferPointer { a in
        b.withUnsafeBufferPointer { b in
          var (items, elements) = (0, 0)
          while i + items < a.count, j + items < b.count, a[i + items] === b[j + items] {
            elements += count(a[i + items])
            items += 1
          }
          return (items, elements)
        }
      }
    }
    return a.height > 0 ? run(a.children, b.children) { $0.count } : run(a.elements, b.elements) { _ in 1 }
  }

  /// An element of the node at which the place is, counted from the place.
  func element(_ position: Int) -> AnyEntry {
    let (node, next) = path[path.count - 1]
    if node.height == 0 { return node.elements[next + position] }
    return node[node.count(before: next) + position]
  }

  /// Goes to the first item in the node at which the place is.
  mutating func descend(_ node: TreeNode) {
    path[path.count - 1].next += 1
    path.append((node, 0))
  }

  /// Goes behind the item, or behind several.
  mutating func advance(by count: Int, items: Int = 1) {
    offset += count
    path[path.count - 1].next += items
    while let (node, next) = path.last, next == (node.height > 0 ? node.children.count : node.elements.count) {
      path.removeLast()
    }
  }
}
