/// An occurrence of a child: the parent, and the ordinal in it.
struct ParentEdge {
  let parent: Node
  let ordinal: Int32
}

/// The occurrences of one entity, in no order. Most entities occur once, which needs no memory beside the node's own.
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

  mutating func append(_ edge: ParentEdge) {
    switch storage {
    case .none:
      if let small = UInt16(exactly: edge.ordinal) {
        storage = .one(edge.parent)
        ordinal = small
      } else {
        storage = .many([edge])
      }
    case .one(let parent): storage = .many([ParentEdge(parent: parent, ordinal: Int32(ordinal)), edge])
    case .many: modifyMany { $0.append(edge) }
    }
  }

  /// Removes an edge. Returns the last one, if that takes its place.
  mutating func remove(at index: Int) -> ParentEdge? {
    let last = count - 1
    if last == 0 {
      storage = .none
      return nil
    }
    var moved: ParentEdge?
    modifyMany { edges in
      let edge = edges.removeLast()
      if index != last {
        edges[index] = edge
        moved = edge
      }
      edges.shrink(beyond: 31)
    }
    return moved
  }

  mutating func removeAll() { storage = .none }

  /// Calls a closure with each parent and ordinal. References are not counted, so the list must not change meanwhile.
  @inline(__always) func forEach(_ body: (Node, Int32) -> Void) {
    switch storage {
    case .none: break
    case .one(let parent): Borrowed(parent).use { body($0, Int32(ordinal)) }
    case .many(let edges):
      for i in edges.indices { Borrowed(edges[i].parent).use { body($0, edges[i].ordinal) } }
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
