/// Meets the entities in a value, one after the other.
class Walker {
  final let engine: Engine

  init(engine: Engine) { self.engine = engine }

  @inline(__always) final func table<T: Identifiable & Sendable>(_ type: T.Type) -> Table<T> { engine.table(type) }

  /// So many more entities are about to be met.
  func reserve(_ count: Int) {}

  func visit<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) {}
}

/// Counts occurrences.
final class OccurrenceCounter: Walker {
  private(set) var count = 0

  override func visit<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) { count += 1 }
}

/// Finds the nodes of the entities in a value, all of which are stored.
final class StructureReader: Walker {
  private(set) var nodes: ContiguousArray<NodeRef> = []
  /// Whether each occurrence shows, to the bit, what its node holds.
  private(set) var isCurrent: ContiguousArray<Bool> = []

  override func visit<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) {
    guard let node = table.node(for: value.pointee.id) else { return }
    nodes.append(NodeRef(node: node))
    isCurrent.append(!node.isDirty && !node.flags.contains(.rooted) && node.holdsBits(of: value))
  }
}
