/// A place above a node: the parent, and which of the parent's occurrences it is.
struct ParentEdge {
  let reference: NodeRef
  let ordinal: Int32

  @inline(__always) var parent: Node { reference.node }
}

/// Where a node occurs. One word while empty; constant-time append and removal.
struct ParentList: ~Copyable {
  private struct Header {
    var count: Int32
    var capacity: Int32
  }

  private var storage: UnsafeMutableRawPointer?

  private static var offset: Int { MemoryLayout<Header>.size }

  private var header: UnsafeMutablePointer<Header>? { storage?.assumingMemoryBound(to: Header.self) }
  private var edges: UnsafeMutablePointer<ParentEdge>? {
    storage.map { ($0 + Self.offset).assumingMemoryBound(to: ParentEdge.self) }
  }

  init() {}

  deinit { storage?.deallocate() }

  var count: Int { Int(header?.pointee.count ?? 0) }
  var isEmpty: Bool { storage == nil }

  /// The edge at an index below `count`, so there are edges.
  subscript(index: Int) -> ParentEdge { edges.unsafelyUnwrapped[index] }

  /// Calls `body` with each parent and the occurrence's ordinal there.
  @inline(__always) func forEach(_ body: (Node, Int32) -> Void) {
    guard let edges else { return }
    for i in 0..<count { edges[i].reference.with { body($0, edges[i].ordinal) } }
  }

  /// Returns the index at which the edge stands.
  mutating func append(_ parent: Node, ordinal: Int32) -> Int32 {
    let count = header?.pointee.count ?? 0
    if count == header?.pointee.capacity ?? 0 { grow(to: count == 0 ? 1 : count * 2) }
    // There is memory now, in any case.
    (edges.unsafelyUnwrapped + Int(count)).initialize(
      to: ParentEdge(reference: NodeRef(node: parent), ordinal: ordinal))
    header.unsafelyUnwrapped.pointee.count = count + 1
    return count
  }

  /// Removes an edge; the last one takes its index and is told so.
  mutating func remove(at index: Int32) {
    guard let header, let edges else { return }
    let last = header.pointee.count - 1
    if index != last {
      let moved = edges[Int(last)]
      edges[Int(index)] = moved
      moved.reference.with { $0.children?.edges[Int(moved.ordinal)].backIndex = index }
    }
    header.pointee.count = last
    if last == 0 {
      storage?.deallocate()
      storage = nil
    } else if last * 4 <= header.pointee.capacity {
      grow(to: header.pointee.capacity / 2)
    }
  }

  private mutating func grow(to capacity: Int32) {
    let fresh = UnsafeMutableRawPointer.allocate(
      byteCount: Self.offset + Int(capacity) * MemoryLayout<ParentEdge>.stride,
      alignment: MemoryLayout<ParentEdge>.alignment)
    let count = header?.pointee.count ?? 0
    fresh.initializeMemory(as: Header.self, to: Header(count: count, capacity: capacity))
    if let storage {
      (fresh + Self.offset).copyMemory(
        from: storage + Self.offset, byteCount: Int(count) * MemoryLayout<ParentEdge>.stride)
      storage.deallocate()
    }
    self.storage = fresh
  }
}
