// Fast paths for entities that contain no other, specialised for their types.
extension StoreCore {
  @inlinable func storeFlat<T: Identifiable & Sendable>(
    _ value: T, in table: Table<T>, _ stamp: Stamp?
  ) -> EntityNode<T> {
    let id = value.id
    let hash = IDHash.hash(id)
    let known = table.find(id, hash: hash)
    if let known, known.exists {
      // A value that is not `Equatable` counts as changed.
      if accept(known, stamp), known.replaceValue(with: value, unless: { table.isEquatable && table.isSame($0, $1) }) {
        graph.didWrite(known)
      }
      return known
    }
    let node = table.insert(value, id: id, hash: hash, known: known, in: graph).use { $0 }
    didInsert(node, stamp)
    return node
  }

  /// Whether a write is taken; see `Merge.accept`. The stamp is the one that was given.
  @usableFromInline func accept(_ node: Node, _ stamp: Stamp?) -> Bool { merge.accept(node, clock.effective(stamp)) }

  @usableFromInline func didInsert(_ node: Node, _ stamp: Stamp?) {
    if node.table.hasOptionalIDs, node.table.lacksID(node) { log.append(.refused(.missingID), node) }
    let stamp = clock.effective(stamp)
    node.stamp = stamp.first
    graph.unexamined.insert(node)
    merge.didStamp(node, stamp)
    graph.didWrite(node)
  }
}
