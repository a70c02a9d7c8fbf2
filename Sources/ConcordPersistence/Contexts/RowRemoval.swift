import Concord
import ConcordModel

/// Removes entities from what refers to them: out of collections, optionals become `nil`, and a parent that requires one is
/// removed too. It works on rows, and calls back for each that changes.
struct RowRemoval {
  let model: Model
  let reading: any RowReading
  /// The new row of a parent; `nil` if it is to be removed.
  let write: (EntityKey, StoredRow?) throws -> Void

  /// Removes entities that are still there, with all that requires them.
  func remove(_ keys: some Sequence<EntityKey>) throws {
    var open = Array(keys)
    var removed = Set(open)
    while let key = open.popLast() {
      for owner in try owners(of: key) where !removed.contains(owner) {
        guard let row = try reading.row(of: owner) else { continue }
        if let rest = try self.row(row, of: owner, without: key) {
          try write(owner, rest)
        } else {
          removed.insert(owner)
          open.append(owner)
        }
      }
      try write(key, nil)
    }
  }

  private func owners(of key: EntityKey) throws -> [EntityKey] {
    try model.entities.filter { $0.targets.contains { $0 == key.entity.type } }.flatMap { entity in
      try reading.referrers(to: key, in: entity).map { EntityKey(entity, $0) }
    }
  }

  private func row(_ row: StoredRow, of owner: EntityKey, without key: EntityKey) throws -> StoredRow? {
    let columns = owner.entity.columns
    var row = row
    for property in owner.entity.properties where property.targets.contains(where: { $0 == key.entity.type }) {
      let isWrapper =
        columns[property.columns].contains { $0.role == .wrapperCase }
        || owner.entity.collections[property.collections].contains { $0.elements.contains { $0.role == .wrapperCase } }
      // Only the wrapper itself knows what it is without the entity.
      if isWrapper { return try rowOfValue(of: owner.entity.type, owner, without: key.entity.type, key) }
      for position in property.columns
      where columns[position].target == key.entity.name && row.values[position] == key.id {
        guard columns[position].isOptional else { return nil }
        row.values[position] = .null
      }
      for (position, index) in zip(property.columns, property.collections) {
        row.collections[index].removeAll { $0.last == key.id }
        if !row.values[position].isNull { row.values[position] = .integer(Int64(row.collections[index].count)) }
      }
    }
    return row
  }

  /// Lets an `EntityStore` remove the entity from the parent's value.
  private func rowOfValue<Owner: PersistentEntity, Child: PersistentEntity>(
    of type: Owner.Type, _ owner: EntityKey, without childType: Child.Type, _ key: EntityKey
  ) throws -> StoredRow? {
    let loader = EntityLoader(reading, model: model)
    guard let value = try loader.find(type, key: owner.id), let child = try loader.find(childType, key: key.id),
      let stamp = try reading.row(of: owner)?.stamp
    else { return nil }
    let store = EntityStore(delivery: .immediate)
    return try withExtendedLifetime(store.store(value)) {
      store.remove(Child.self, id: child.id)
      return try store.value(Owner.self, id: value.id).map { try owner.entity.row(of: $0, stamp: stamp) }
    }
  }
}
