/// An occurrence of a child: the parent, and the ordinal in it.
struct ParentEdge {
  let parent: Node
  let ordinal: Int32
  /// In the first edge of a list: the number of edges that are not marked. It is kept in the edge's padding, so that a node is no
  /// larger.
  fileprivate var unmarked: Int32 = 0

  init(parent: Node, ordinal: Int32) { (self.parent, self.ordinal) = (parent, ordinal) }
}

/// The occurrences of one entity. Most entities occur once, which needs no memory beside the node's own.
///
/// An edge is *marked* once the parent is known to show something old there. Marked edges come last, so that a change of the
/// entity passes only those that are not marked: a mark costs once, however many parents come and go beside it. The one edge
/// of an entity that occurs once is never marked.
struct ParentList {
  private enum Storage {
    case none
    case one(Node)
    case many(ContiguousArray<ParentEdge>)
  }

  private var storage = Storage.none
  /// The ordinal of a single occurrence. Small, so that it fits in the node's padding; a larger ordinal is stored as several
  /// are.
  private var ordinal: UInt16 = 0

  /// The capacity of the list's own memory.
  var capacity: Int { if case .many(let edges) = storage { edges.capacity } else { 0 } }

  /// Adds an edge, which is not marked, and returns its index.
  ///
  /// - Parameter didMove: A closure that is called with each other edge that has another index now.
  // The parts of the edge, not the edge: the parent would be counted once more, for each occurrence that is written.
  mutating func append(_ parent: Node, ordinal new: Int32, didMove: (ParentEdge, Int) -> Void) -> Int {
    switch storage {
    case .none:
      if let small = UInt16(exactly: new) {
        storage = .one(parent)
        ordinal = small
      } else {
        storage = .many([ParentEdge(parent: parent, ordinal: new)])
        modifyMany { $0.unmarked = 1 }
      }
      return 0
    case .one(let first):
      storage = .many([
        ParentEdge(parent: first, ordinal: Int32(ordinal)), ParentEdge(parent: parent, ordinal: new),
      ])
      modifyMany { $0.unmarked = 2 }
      return 1
    case .many:
      var index = 0
      let edge = ParentEdge(parent: parent, ordinal: new)
      modifyMany { edges in
        index = edges.unmarked
        if index == edges.count {
          edges.append(edge)
        } else {
          edges.append(edges[index])
          edges[index] = edge
          didMove(edges[edges.count - 1], edges.count - 1)
        }
        edges.unmarked = index + 1
      }
      return index
    }
  }

  /// Removes an edge. Other edges may take its place.
  mutating func remove(at index: Int, didMove: (ParentEdge, Int) -> Void) {
    let last = count - 1
    if last == 0 {
      storage = .none
      return
    }
    modifyMany { edges in
      var unmarked = edges.unmarked
      var hole = index
      if hole < unmarked {
        unmarked -= 1
        if hole != unmarked {
          edges[hole] = edges[unmarked]
          didMove(edges[hole], hole)
        }
        hole = unmarked
      }
      let edge = edges.removeLast()
      if hole != last {
        edges[hole] = edge
        didMove(edge, hole)
      }
      edges.unmarked = unmarked
      edges.shrink(beyond: 31)
    }
  }

  mutating func removeAll() { storage = .none }

  // MARK: Marks

  /// The number of edges that are not marked, which come first.
  var unmarkedCount: Int { if case .many(let edges) = storage { edges.unmarked } else { count } }

  func isMarked(at index: Int) -> Bool { index >= unmarkedCount }

  mutating func markAll() { if case .many = storage { modifyMany { $0.unmarked = 0 } } }

  mutating func unmarkAll() { if case .many = storage { modifyMany { $0.unmarked = $0.count } } }

  /// Takes the mark from an edge, whose parent shows the newest value again.
  mutating func unmark(at index: Int, didMove: (ParentEdge, Int) -> Void) {
    guard isMarked(at: index), case .many = storage else { return }
    modifyMany { edges in
      let unmarked = edges.unmarked
      edges.exchange(unmarked, index, didMove)
      edges.unmarked = unmarked + 1
    }
  }

  /// Calls a closure with each parent and ordinal whose edge is not marked. References are not counted, so the list must not change
  /// meanwhile.
  @inline(__always) func forEachUnmarked(_ body: (Node, Int32) -> Void) {
    switch storage {
    case .none: break
    case .one(let parent): Borrowed(parent).use { body($0, Int32(ordinal)) }
    case .many(let edges):
      for i in 0..<edges.unmarked { Borrowed(edges[i].parent).use { body($0, edges[i].ordinal) } }
    }
  }

  /// Changes the edges, which are taken out meanwhile, so that they are not copied.
  private mutating func modifyMany(_ body: (inout ContiguousArray<ParentEdge>) -> Void) {
    var taken = Storage.none
    swap(&taken, &storage)
    guard case .many(var edges) = consume taken else { return }
    body(&edges)
    storage = .many(edges)
  }
}

extension ContiguousArray<ParentEdge> {
  fileprivate var unmarked: Int {
    get { isEmpty ? 0 : Int(self[0].unmarked) }
    set { self[0].unmarked = Int32(truncatingIfNeeded: newValue) }
  }

  fileprivate mutating func exchange(_ i: Int, _ j: Int, _ didMove: (ParentEdge, Int) -> Void) {
    if i == j { return }
    swapAt(i, j)
    didMove(self[i], i)
    didMove(self[j], j)
  }
}

extension ParentList: RandomAccessCollection {
  var isEmpty: Bool { if case .none = storage { true } else { false } }
  var startIndex: Int { 0 }

  var endIndex: Int {
    switch storage {
    case .none: 0
    case .one: 1
    case .many(let edges): edges.count
    }
  }

  subscript(index: Int) -> ParentEdge {
    switch storage {
    // Traps, like an array's subscript.
    case .none: [ParentEdge]()[index]
    case .one(let parent): CollectionOfOne(ParentEdge(parent: parent, ordinal: Int32(ordinal)))[index]
    case .many(let edges): edges[index]
    }
  }
}
