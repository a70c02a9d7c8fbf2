import Concord
import ConcordModel

/// The removal of entities from the rows that refer to them: collections lose them, optionals become `nil`, and a parent that
/// requires one is removed, too. The rows of owners keep their stamps, and the order of the rest.
struct RowRemoval {
  let model: Model
  let reading: any RowReading
  /// A closure that receives the new row of an owner.
  let update: (EntityKey, StoredRow) throws -> Void
  /// A closure that receives an entity that is to be removed, and the stamp of the deletion that causes it.
  let delete: (EntityKey, Stamp) throws -> Void

  /// Removes entities that are still stored, with all owners that require them.
  ///
  /// - Parameter deletions: the entities, and the stamps of their deletions.
  func remove(_ deletions: [EntityKey: Stamp]) throws {
    // The latest deletion comes first, and with it all that requires its entity.
    var open = deletions.sorted { $0.value < $1.value }.map(\.key)
    var removed = deletions
    while let key = open.popLast() {
      let stamp = removed[key] ?? -.infinity
      for owner in try owners(of: key) where removed[owner] == nil {
        guard let row = try reading.row(of: owner) else { continue }
        if let rest = try self.row(row, of: owner, without: removed) {
          try update(owner, rest)
        } else {
          removed[owner] = stamp
          open.append(owner)
        }
      }
      try delete(key, stamp)
    }
  }

  private func owners(of key: EntityKey) throws -> [EntityKey] {
    try model.entities.filter { $0.targets.contains { $0 == key.entity.type } }.flatMap { entity in
      try reading.referrers(to: key, in: entity).map { EntityKey(entity, $0) }
    }
  }

  /// Returns a row without some entities; `nil` if it requires one of them.
  func row(_ row: StoredRow, of owner: EntityKey, without gone: [EntityKey: Stamp]) throws -> StoredRow? {
    let entity = owner.entity
    var row = row
    var mayBeUnreadable = false
    for property in entity.properties where !property.targets.isEmpty {
      let isWrapper = entity.columns[property.columns].contains { $0.role == .wrapperCase }
      for position in property.columns where isGone(row.values[position], entity.columns[position], gone) {
        guard entity.columns[position].isOptional else { return nil }
        row.values[position] = .null
        if isWrapper { mayBeUnreadable = true }
      }
      for index in property.collections {
        let columns = entity.collections[index].columns
        if columns.contains(where: { $0.role == .wrapperCase }) {
          for element in row.collections[index].indices {
            for position in columns.indices
            where position < row.collections[index].width
              && isGone(row.collections[index][element, position], columns[position], gone)
            {
              row.collections[index][element, position] = .null
              mayBeUnreadable = true
            }
          }
        } else {
          row.collections[index].removeAll { values in
            zip(values, columns).contains { isGone($0, $1, gone) }
          }
        }
      }
    }
    for (index, position) in entity.countPositions.enumerated() where !row.values[position].isNull {
      row.values[position] = .integer(Int64(row.collections[index].count))
    }
    // Only a wrapper itself knows whether it requires the entity.
    return try mayBeUnreadable && !isReadable(row, entity.type) ? nil : row
  }

  private func isGone(_ value: StoredValue, _ column: ColumnDescription, _ gone: [EntityKey: Stamp]) -> Bool {
    guard !value.isNull, let target = column.target.flatMap(model.entity(named:)) else { return false }
    return gone[EntityKey(target, value)] != nil
  }

  private func isReadable<T: PersistentEntity>(_ row: StoredRow, _ type: T.Type) throws -> Bool {
    let loader = EntityLoader(reading, model: model)
    do {
      _ = try model.entity(type).read(type, from: StoredRowSource(row), key: .null, resolver: loader)
      return true
    } catch let error where StoreError.mayPass(error) && !StoreError.isOfDetachedStore(error) {
      // That a store cannot be read at the moment says nothing of the row.
      throw error
    } catch {
      return false
    }
  }
}
