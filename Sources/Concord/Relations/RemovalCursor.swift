/// Says, occurrence by occurrence, what is to be taken out of a value.
@usableFromInline struct RemovalCursor {
  @usableFromInline let engine: Engine
  @usableFromInline unowned(unsafe) let children: ChildList
  @usableFromInline let ordinals: Set<Int32>
  @usableFromInline var position: Int32 = 0
  /// Occurrences that are required where they stand.
  @usableFromInline var required: [Int32] = []
  @usableFromInline var removals: [Int32] = []

  @usableFromInline init(_ ordinals: some Sequence<Int32>, of children: ChildList, engine: Engine) {
    self.ordinals = Set(ordinals)
    self.children = children
    self.engine = engine
  }

  @usableFromInline func removed(since start: Int32) -> Bool { removals.contains { $0 >= start } }
  @usableFromInline func kept(since start: Int32) -> Int { Int(position - start) - removals.count { $0 >= start } }

  @usableFromInline mutating func move(to position: Int32) { self.position = position }

  /// Passes one occurrence; whether it is to go.
  @usableFromInline mutating func pass() -> Bool {
    defer { position += 1 }
    guard ordinals.contains(position) else { return false }
    removals.append(position)
    return true
  }

  /// Passes `count` occurrences of `T`; the ids of those which are to go.
  @inlinable mutating func pass<T: Identifiable & Sendable>(_ count: Int, of type: T.Type) -> Set<T.ID> {
    var gone: Set<T.ID> = []
    for _ in 0..<count {
      let child = unsafeDowncast(children.edges[Int(position)].child, to: EntityNode<T>.self)
      if pass(), let id = child.value?.id { gone.insert(id) }
    }
    return gone
  }

  /// The occurrences passed since `start` go all at once, because what holds them goes.
  @usableFromInline mutating func dropAll(since start: Int32) {
    removals.removeAll { $0 >= start }
    removals.append(contentsOf: start..<position)
    required.removeAll { $0 >= start }
  }

  /// The place cannot do without the occurrences taken out since `start`.
  @usableFromInline mutating func require(since start: Int32) {
    required.append(contentsOf: removals.filter { $0 >= start })
    removals.removeAll { $0 >= start }
  }
}
