/// Meets the entities in a value, one after the other.
///
/// There are few kinds of walkers, and all are known here: so a visit is specialised for the entity's type, as an overridden
/// generic method could not be.
@usableFromInline class Walker {
  @usableFromInline enum Kind { case write, structure, given, identity, count }

  @usableFromInline final let engineReference: Unmanaged<Engine>
  @usableFromInline let kind: Kind
  /// Under which key the entity stands that is being met, if places are to be told apart.
  @exclusivity(unchecked) @usableFromInline final var key: AnyHashable?
  @exclusivity(unchecked) @usableFromInline final var wantsKeys = false

  @usableFromInline init(engine: Engine, kind: Kind) {
    engineReference = Unmanaged.passUnretained(engine)
    self.kind = kind
  }

  @inlinable @inline(__always) final func table<T: Identifiable & Sendable>(_ type: T.Type) -> Table<T> {
    withEngine { $0.table(type) }
  }

  /// The engine, which outlives its walkers.
  @inlinable @inline(__always) final var engine: Engine { engineReference.takeUnretainedValue() }

  /// Works with the engine without counting the reference.
  @inlinable @inline(__always) final func withEngine<R>(_ body: (Engine) -> R) -> R {
    engineReference._withUnsafeGuaranteedRef(body)
  }

  /// So many more entities are about to be met. If the first is new to the store, the others may well be.
  @inlinable final func reserve<T: Identifiable & Sendable>(
    _ count: Int, from first: UnsafePointer<T>, in table: Table<T>
  ) {
    guard kind == .write, count > 1 else { return }
    unsafeDowncast(self, to: WriteCall.self).expect(count)
    if table.node(for: first.pointee.id) == nil { table.reserve(count) }
  }

  /// Nothing stands in an optional place, which is not the same as an empty collection.
  @inlinable @inline(__always) final func passNil() {
    if kind == .identity {
      unsafeDowncast(self, to: IdentityReader.self).found.append(Identity(node: nil, key: key))
    }
  }

  @inlinable @inline(__always)
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
@usableFromInline final class OccurrenceCounter: Walker {
  @exclusivity(unchecked) @usableFromInline var count = 0

  @usableFromInline init(engine: Engine) { super.init(engine: engine, kind: .count) }
}

/// Finds the nodes of the entities in a value, all of which are stored.
@usableFromInline final class StructureReader: Walker {
  @exclusivity(unchecked) @usableFromInline var nodes: ContiguousArray<NodeRef> = []
  /// Whether each occurrence shows, to the bit, what its node holds.
  @exclusivity(unchecked) @usableFromInline var isCurrent: ContiguousArray<Bool> = []

  @usableFromInline init(engine: Engine) { super.init(engine: engine, kind: .structure) }

  @inlinable func meet<T: Identifiable & Sendable>(_ value: UnsafePointer<T>, in table: Table<T>) {
    guard let node = table.node(for: value.pointee.id) else { return }
    nodes.append(NodeRef(node: node))
    isCurrent.append(!node.isDirty && !node.flags.contains(.rooted) && node.holdsBits(of: value))
  }
}
