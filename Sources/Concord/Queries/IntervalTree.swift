/// Objects by intervals: finds those whose interval contains a value.
///
/// It is an interval tree (Cormen et al., *Introduction to Algorithms*): a search tree by where intervals begin, in which each node knows where
/// the last interval of its subtree ends. A treap (Seidel and Aragon) keeps it balanced, in expectation, whatever the order of insertions.
struct IntervalTree<Value: Comparable, Member: AnyObject> {
  typealias Interval = ValueInterval<Value>

  private var root: Node?
  private var generator = Priorities()

  init() {}

  var isEmpty: Bool { root == nil }

  /// - Complexity: the logarithm of the number of different intervals, in expectation.
  mutating func insert(_ member: Member, _ interval: Interval) {
    if let node = root?.find(interval) { return node.members[ObjectIdentifier(member)] = member }
    let node = Node(interval, member, priority: generator.next())
    let (before, after) = Self.split(root, interval)
    root = Self.join(Self.join(before, node), after)
  }

  /// - Complexity: the logarithm of the number of different intervals, in expectation.
  mutating func remove(_ member: Member, _ interval: Interval) {
    guard let node = root?.find(interval), node.members.removeValue(forKey: ObjectIdentifier(member)) != nil,
      node.members.isEmpty
    else { return }
    root = Self.removing(interval, root)
  }

  /// Calls a closure with each object whose interval contains a value, but with none whose interval contains another value, too.
  ///
  /// - Returns: the number of nodes that were looked at, for tests.
  /// - Complexity: the logarithm of the number of different intervals, for each that is found, in expectation.
  @discardableResult
  func forEach(around value: Value, butNot other: Value? = nil, _ body: (Member) -> Void) -> Int {
    var looks = 0
    root?.visit(value, other, &looks, body)
    return looks
  }

  func forEach(_ body: (Member) -> Void) { root?.visitAll(body) }

  /// The length of the longest path, for tests.
  var depth: Int { root?.depth ?? 0 }

  // MARK: The treap

  private static func split(_ node: Node?, _ interval: Interval) -> (Node?, Node?) {
    guard let node else { return (nil, nil) }
    if node.interval.precedes(interval) {
      let (before, after) = split(node.right, interval)
      node.right = before
      node.noteEnd()
      return (node, after)
    }
    let (before, after) = split(node.left, interval)
    node.left = after
    node.noteEnd()
    return (before, node)
  }

  private static func join(_ a: Node?, _ b: Node?) -> Node? {
    guard let a, let b else { return a ?? b }
    if a.priority > b.priority {
      a.right = join(a.right, b)
      a.noteEnd()
      return a
    }
    b.left = join(a, b.left)
    b.noteEnd()
    return b
  }

  private static func removing(_ interval: Interval, _ node: Node?) -> Node? {
    guard let node else { return nil }
    if interval.precedes(node.interval) {
      node.left = removing(interval, node.left)
    } else if node.interval.precedes(interval) {
      node.right = removing(interval, node.right)
    } else {
      return join(node.left, node.right)
    }
    node.noteEnd()
    return node
  }

  /// The objects of one interval, between those of earlier and of later ones.
  private final class Node {
    let interval: Interval
    let priority: UInt64
    var members: [ObjectIdentifier: Member]
    var left: Node?
    var right: Node?
    /// One of the intervals of the subtree that end last.
    private var last: Interval

    init(_ interval: Interval, _ member: Member, priority: UInt64) {
      (self.interval, last, self.priority) = (interval, interval, priority)
      members = [ObjectIdentifier(member): member]
    }

    func noteEnd() {
      last = interval
      if let left, left.last.endsLater(than: last) { last = left.last }
      if let right, right.last.endsLater(than: last) { last = right.last }
    }

    func find(_ wanted: Interval) -> Node? {
      var next: Node? = self
      while let node = next {
        if wanted.precedes(node.interval) {
          next = node.left
        } else if node.interval.precedes(wanted) {
          next = node.right
        } else {
          return node
        }
      }
      return nil
    }

    func visit(_ value: Value, _ other: Value?, _ looks: inout Int, _ body: (Member) -> Void) {
      looks += 1
      guard last.endsAfter(value) else { return }
      left?.visit(value, other, &looks, body)
      guard interval.beginsBefore(value) else { return }
      if interval.endsAfter(value), !(other.map(interval.contains) ?? false) { members.values.forEach(body) }
      right?.visit(value, other, &looks, body)
    }

    func visitAll(_ body: (Member) -> Void) {
      left?.visitAll(body)
      members.values.forEach(body)
      right?.visitAll(body)
    }

    var depth: Int { 1 + max(left?.depth ?? 0, right?.depth ?? 0) }
  }
}

/// Numbers that are spread evenly, the same in each run (SplitMix64).
private struct Priorities {
  private var state: UInt64 = 0

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var number = state
    number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
    return number ^ (number >> 31)
  }
}
