/// Meets the entities in a value, one after the other.
///
/// There are few kinds of walkers, and all are known here: so a visit is specialised for the entity's type, as an overridden
/// generic method could not be.
class Walker {
  enum Kind { case write, structure, given, identity, count }

  final let engine: Engine
  private let kind: Kind

  init(engine: Engine, kind: Kind) {
    self.engine = engine
    self.kind = kind
  }

  @inline(__always) final func table<T: Identifiable & Sendable>(_ type: T.Type) -> Table<T> { engine.table(type) }

  /// So many more entities are about to be met.
  final func reserve(_ count: Int) {
    if kind == .write { unsafeDowncast(self, to: WriteCall.self).expect(count) }
  }

  @inline(__always)
  final func visit<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) {
    switch kind {
    case .write: unsafeDowncast(self, to: WriteCall.self).meet(value, in: table)
    case .structure: unsafeDowncast(self, to: StructureReader.self).meet(value, in: table)
    case .given: unsafeDowncast(self, to: GivenReader.self).meet(value, in: table)
    case .identity: unsafeDowncast(self, to: IdentityReader.self).meet(value, in: table)
    case .count: unsafeDowncast(self, to: OccurrenceCounter.self).count += 1
    }
  }
}

/// Counts occurrences.
final class OccurrenceCounter: Walker {
  var count = 0

  init(engine: Engine) { super.init(engine: engine, kind: .count) }
}

/// Finds the nodes of the entities in a value, all of which are stored.
final class StructureReader: Walker {
  private(set) var nodes: ContiguousArray<NodeRef> = []
  /// Whether each occurrence shows, to the bit, what its node holds.
  private(set) var isCurrent: ContiguousArray<Bool> = []

  init(engine: Engine) { super.init(engine: engine, kind: .structure) }

  func meet<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) {
    guard let node = table.node(for: value.pointee.id) else { return }
    nodes.append(NodeRef(node: node))
    isCurrent.append(!node.isDirty && !node.flags.contains(.rooted) && node.holdsBits(of: value))
  }
}
