/// A hash index of nodes, which hold the ids themselves: open addressing with linear probing and without tombstones, so that
/// an entry takes 16 bytes, and a removed one none.
@usableFromInline struct NodeIndex {
  @usableFromInline struct Entry {
    /// The node; `nil` in a free slot.
    @usableFromInline var node: Node?
    /// The hash; 0 in a free slot.
    @usableFromInline var hash: UInt32 = 0
  }

  @usableFromInline private(set) var entries: ContiguousArray<Entry>
  @usableFromInline private(set) var count = 0

  static var minimumCapacity: Int { 8 }

  @usableFromInline init() {
    entries = ContiguousArray(repeating: Entry(), count: Self.minimumCapacity)
  }

  @inlinable var capacity: Int { entries.count }

  /// Returns the node with a hash that meets a condition.
  ///
  /// - Complexity: constant, on average.
  @inlinable @inline(__always) func find(_ hash: UInt32, where isWanted: (Node) -> Bool) -> Node? {
    position(hash, where: isWanted).flatMap { entries[$0].node }
  }

  /// Returns the position of the node with a hash that meets a condition.
  @inlinable @inline(__always) func position(_ hash: UInt32, where isWanted: (Node) -> Bool) -> Int? {
    let mask = entries.count - 1
    var i = Int(hash) & mask
    while true {
      let found = entries[i].hash
      if found == hash, let node = entries[i].node, isWanted(node) { return i }
      if found == 0 { return nil }
      i = (i + 1) & mask
    }
  }

  /// Adds a new node under its `hash`.
  @usableFromInline mutating func insert(_ node: consuming Node) {
    reserve(1)
    let hash = node.hash
    place(consume node, hash)
    count += 1
  }

  /// Removes a node. Returns `false` if it is not in the index.
  mutating func remove(_ node: Node) -> Bool {
    let mask = entries.count - 1
    var hole = Int(node.hash) & mask
    while let entry = entries[hole].node, entry !== node { hole = (hole + 1) & mask }
    guard entries[hole].node != nil else { return false }
    // Entries after the hole move towards it as far as their hash allows.
    var i = hole
    while true {
      i = (i + 1) & mask
      guard entries[i].hash != 0 else { break }
      let home = Int(entries[i].hash) & mask
      if (i - home) & mask >= (i - hole) & mask {
        entries.swapAt(hole, i)
        hole = i
      }
    }
    entries[hole] = Entry()
    count -= 1
    shrink()
    return true
  }

  /// Reserves capacity for more nodes.
  @usableFromInline mutating func reserve(_ more: Int) {
    var wanted = capacity
    while (count + more) * 5 > wanted * 4 { wanted *= 2 }
    if wanted > capacity { resize(to: wanted) }
  }

  var all: [Node] { entries.compactMap { $0.node } }

  /// Calls a closure with each node, in no particular order.
  func forEach(_ body: (Node) -> Void) {
    // Retained, so that a closure which changes the index does so in a copy.
    let entries = entries
    for index in entries.indices { if let node = entries[index].node { body(node) } }
  }

  private mutating func place(_ node: consuming Node?, _ hash: UInt32) {
    let mask = entries.count - 1
    var i = Int(hash) & mask
    while entries[i].hash != 0 { i = (i + 1) & mask }
    entries[i] = Entry(node: node, hash: hash)
  }

  /// Releases capacity that a peak left.
  private mutating func shrink() {
    var wanted = capacity
    while wanted > Self.minimumCapacity, count * 8 < wanted { wanted /= 2 }
    if wanted < capacity { resize(to: wanted) }
  }

  private mutating func resize(to newCapacity: Int) {
    var old = ContiguousArray<Entry>()
    swap(&old, &entries)
    entries = ContiguousArray(repeating: Entry(), count: newCapacity)
    // Moved, not copied, and without reading the nodes, which are scattered in memory.
    for i in old.indices where old[i].hash != 0 { place(old[i].node.take(), old[i].hash) }
  }
}
