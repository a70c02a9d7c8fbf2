/// A visitor of the entities in a value, in the order of the value's relations.
///
/// All purposes share one function, so that a visit is specialised for the entity's type, which an overridden generic method
/// could not be.
@usableFromInline final class Visitor {
  /// The purposes of a visit.
  @usableFromInline enum Purpose {
    /// Collecting values to be merged into the store. Entities that are new to the store get a node.
    case merge
    /// Collecting values to compare with. Entities that are new to the store get an awaiting node.
    case collect
    /// Collecting nodes only; `nil` for an entity that is not stored.
    case identify
  }

  @usableFromInline let graph: Graph
  // Unchecked as in `Node`: each access ends before a relation is followed further.
  @exclusivity(unchecked) @usableFromInline var purpose = Purpose.identify
  @exclusivity(unchecked) @usableFromInline var nodes: ContiguousArray<Node?> = []
  @usableFromInline let occurrences: OccurrenceList
  /// The log of values without an id.
  var log: LogBuffer?

  init(graph: Graph, occurrences: OccurrenceList) {
    self.graph = graph
    self.occurrences = occurrences
  }

  @inlinable func table<T: Identifiable & Sendable>(_ type: T.Type) -> Table<T> { graph.table(type) }

  /// Reserves capacity for entities that are about to be visited. If the first is new to the store, the others may well be.
  @inlinable func reserve<T: Identifiable & Sendable>(_ count: Int, from first: T, in table: Table<T>) {
    guard purpose == .merge, count > 1 else { return }
    occurrences.reserve(count)
    if table.find(first.id) == nil { table.index.reserve(count) }
  }

  @inlinable func visit<T: Identifiable & Sendable>(_ value: T, in table: Table<T>) {
    withUnsafePointer(to: value) { visit(at: $0, in: table) }
  }

  /// Visits the value at an address, which is valid during the call. The value is copied once, if it is collected.
  @inlinable func visit<T: Identifiable & Sendable>(at place: UnsafePointer<T>, in table: Table<T>) {
    let id = place.pointee.id
    // A value without an id is a part of its parent's value; on its own it is stored as it is.
    if table.hasOptionalIDs, isNil(id) { return visitMissing(place.pointee, in: table) }
    let hash = IDHash.hash(id)
    let known = table.find(id, hash: hash)
    if purpose == .identify {
      nodes.append(known.flatMap { $0.exists || $0.flags.contains(.removed) ? $0 : nil })
    } else if purpose == .collect {
      collect(place.pointee, id: id, in: table)
    } else if let known, known.exists {
      occurrences.append(known, pending: table.addPending(place.pointee))
    } else {
      table.insert(place.pointee, id: id, hash: hash, known: known, in: graph).use { occurrences.appendNew($0) }
    }
  }

  @usableFromInline func collect<T: Identifiable & Sendable>(_ value: T, id: T.ID, in table: Table<T>) {
    let node = table.nodeAwaiting(id)
    if !node.exists { graph.unexamined.insert(node) }
    occurrences.append(node, pending: table.addPending(value))
  }
}

extension Visitor {
  /// Visits a value without an id.
  @usableFromInline @inline(never) func visitMissing<T: Identifiable & Sendable>(_ value: T, in table: Table<T>) {
    guard purpose == .merge else { return }
    log?.append { $0.didRefuse(T.self, id: value.id, reason: .missingID) }
    guard occurrences.parent < 0 else { return }
    occurrences.appendNew(table.insert(value, id: value.id, hash: 0, known: nil, in: graph).use { $0 })
  }
}
