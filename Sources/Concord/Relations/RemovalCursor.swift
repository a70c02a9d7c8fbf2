/// Says, occurrence by occurrence, what is to be taken out of a value.
struct RemovalCursor {
  let engine: Engine
  private unowned(unsafe) let children: ChildList
  private let ordinals: Set<Int32>
  private(set) var position: Int32 = 0
  /// Occurrences that are required where they stand.
  private(set) var required: [Int32] = []
  private var removals: [Int32] = []

  init(_ ordinals: some Sequence<Int32>, of children: ChildList, engine: Engine) {
    self.ordinals = Set(ordinals)
    self.children = children
    self.engine = engine
  }

  func removed(since start: Int32) -> Bool { removals.contains { $0 >= start } }
  func kept(since start: Int32) -> Int { Int(position - start) - removals.count { $0 >= start } }

  mutating func move(to position: Int32) { self.position = position }

  /// Passes one occurrence; whether it is to go.
  mutating func pass() -> Bool {
    defer { position += 1 }
    guard ordinals.contains(position) else { return false }
    removals.append(position)
    return true
  }

  /// Passes `count` occurrences of `T`; the ids of those which are to go.
  mutating func pass<T: Identifiable & Sendable>(_ count: Int, of type: T.Type) -> Set<T.ID> {
    var gone: Set<T.ID> = []
    for _ in 0..<count {
      let child = unsafeDowncast(children.edges[Int(position)].child, to: EntityNode<T>.self)
      if pass(), let id = child.value?.id { gone.insert(id) }
    }
    return gone
  }

  /// The occurrences passed since `start` go all at once, because what holds them goes.
  mutating func dropAll(since start: Int32) {
    removals.removeAll { $0 >= start }
    removals.append(contentsOf: start..<position)
    required.removeAll { $0 >= start }
  }

  /// The place cannot do without the occurrences taken out since `start`.
  mutating func require(since start: Int32) {
    required.append(contentsOf: removals.filter { $0 >= start })
    removals.removeAll { $0 >= start }
  }
}
