/// A hash index of nodes, which hold the ids themselves: open addressing with linear probing and no tombstones, so an entry
/// takes 12 bytes and nothing stays when it goes.
@usableFromInline struct NodeIndex {
  /// `nil` where free.
  @usableFromInline private(set) var nodes: ContiguousArray<Node?>
  /// 0 where free.
  @usableFromInline private(set) var hashes: ContiguousArray<UInt32>
  @usableFromInline private(set) var count = 0

  static var minimumCapacity: Int { 8 }

  @usableFromInline init() {
    nodes = ContiguousArray(repeating: nil, count: Self.minimumCapacity)
    hashes = ContiguousArray(repeating: 0, count: Self.minimumCapacity)
  }

  @inlinable var capacity: Int { hashes.count }

  /// A hash that is never 0.
  @inlinable @inline(__always) static func hash(_ id: some Hashable) -> UInt32 {
    let hash = id.hashValue
    return (UInt32(truncatingIfNeeded: hash) ^ UInt32(truncatingIfNeeded: hash >> 32)) | 1 << 31
  }

  /// The node with this hash that is the one wanted. Cost: constant, on average.
  @inlinable @inline(__always) func find(_ hash: UInt32, where isWanted: (Node) -> Bool) -> Node? {
    let mask = hashes.count - 1
    var i = Int(hash) & mask
    while true {
      let found = hashes[i]
      if found == hash, let node = nodes[i], isWanted(node) { return node }
      if found == 0 { return nil }
      i = (i + 1) & mask
    }
  }

  /// Adds a node that is not there yet, under its `hash`.
  @usableFromInline mutating func insert(_ node: Node) {
    reserve(1)
    place(node, node.hash)
    count += 1
  }

  /// Removes a node; `false` if it is not there.
  mutating func remove(_ node: Node) -> Bool {
    let mask = hashes.count - 1
    var hole = Int(node.hash) & mask
    while let entry = nodes[hole], entry !== node { hole = (hole + 1) & mask }
    guard nodes[hole] != nil else { return false }
    // Entries after the hole move up as far as their hash allows.
    var i = hole
    while true {
      i = (i + 1) & mask
      guard hashes[i] != 0 else { break }
      let home = Int(hashes[i]) & mask
      if (i - home) & mask >= (i - hole) & mask {
        nodes.swapAt(hole, i)
        hashes.swapAt(hole, i)
        hole = i
      }
    }
    nodes[hole] = nil
    hashes[hole] = 0
    count -= 1
    shrink()
    return true
  }

  /// Makes room for so many more.
  @usableFromInline mutating func reserve(_ more: Int) {
    var wanted = capacity
    while (count + more) * 5 > wanted * 4 { wanted *= 2 }
    if wanted > capacity { resize(to: wanted) }
  }

  var all: [Node] { nodes.compactMap { $0 } }

  private mutating func place(_ node: consuming Node?, _ hash: UInt32) {
    let mask = hashes.count - 1
    var i = Int(hash) & mask
    while hashes[i] != 0 { i = (i + 1) & mask }
    nodes[i] = node
    hashes[i] = hash
  }

  /// Gives back what a peak left.
  private mutating func shrink() {
    var wanted = capacity
    while wanted > Self.minimumCapacity, count * 8 < wanted { wanted /= 2 }
    if wanted < capacity { resize(to: wanted) }
  }

  private mutating func resize(to newCapacity: Int) {
    var oldNodes = ContiguousArray<Node?>(repeating: nil, count: newCapacity)
    var oldHashes = ContiguousArray<UInt32>(repeating: 0, count: newCapacity)
    swap(&oldNodes, &nodes)
    swap(&oldHashes, &hashes)
    // Moved, not copied, and without a look into the nodes: they lie all over the memory.
    for i in oldHashes.indices where oldHashes[i] != 0 { place(oldNodes[i].take(), oldHashes[i]) }
  }
}
