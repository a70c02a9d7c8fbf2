import ConcordModel

/// An index of the references of changed entities, so that a removal need not search all of them.
struct PendingReferences: Sendable {
  private struct Target: Hashable {
    let entity: String
    let key: StoredValue
  }

  private var owners: [Target: Set<EntityKey>] = [:]

  init(_ changes: some Sequence<PendingChanges.Entry>) {
    for entry in changes { add(entry.key, entry.change.row) }
  }

  func owners(of key: EntityKey) -> Set<EntityKey> { owners[Target(entity: key.entity.name, key: key.id)] ?? [] }

  mutating func add(_ owner: EntityKey, _ row: StoredRow?) {
    for target in targets(of: owner, row) { owners[target, default: []].insert(owner) }
  }

  mutating func remove(_ owner: EntityKey, _ row: StoredRow?) {
    for target in targets(of: owner, row) {
      owners[target]?.remove(owner)
      if owners[target]?.isEmpty ?? false { owners[target] = nil }
    }
  }

  private func targets(of owner: EntityKey, _ row: StoredRow?) -> [Target] {
    guard let row, !owner.entity.targets.isEmpty else { return [] }
    return owner.entity.references(of: row).map { Target(entity: $0.target, key: $0.key) }
  }
}
