/// An occurrence, seen from below: the parent, and which of its occurrences.
struct ParentEdge {
  let parent: Node
  let ordinal: Int32
}

/// Where one entity occurs, in no order. Most occur once, which takes no room but the node's own.
struct ParentList {
  private enum Storage {
    case none
    case one(Node)
    case many(ContiguousArray<ParentEdge>)
  }

  private var storage = Storage.none
  /// Of the one. Small, so that it fits where the node has room; one with a larger ordinal is among the many.
  private var ordinal: UInt16 = 0

  /// For how many there is room in memory of the list's own.
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

  /// Removes an edge; gives the last one, if that takes its place.
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

  /// Calls with each parent, and which of its occurrences it is. No reference is counted, so the list must not change meanwhile.
  @inline(__always) func forEach(_ body: (Node, Int32) -> Void) {
    switch storage {
    case .none: break
    case .one(let parent): Borrowed(parent).use { body($0, Int32(ordinal)) }
    case .many(let edges):
      for i in edges.indices { Borrowed(edges[i].parent).use { body($0, edges[i].ordinal) } }
    }
  }

  /// Taken out meanwhile, so that it is not copied.
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
    // Traps, as an array does.
    case .none: [ParentEdge]()[index]
    case .one(let parent): CollectionOfOne(ParentEdge(parent: parent, ordinal: Int32(ordinal)))[index]
    case .many(let edges): edges[index]
    }
  }
}
