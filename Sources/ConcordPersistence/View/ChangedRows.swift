import ConcordModel

/// The rows of changed entities, each read once for all queries that look at it.
final class ChangedRows {
  private let keys: [EntityDescription: Set<StoredValue>]
  private let reading: any RowReading
  private var rows: [EntityKey: StoredRow?] = [:]

  init(_ keys: Set<EntityKey>, _ reading: any RowReading) {
    self.keys = keys.reduce(into: [:]) { $0[$1.entity, default: []].insert($1.id) }
    self.reading = reading
  }

  /// The columns of a row, without its collections; `nil` if there is none.
  func row(of key: EntityKey) throws -> StoredRow? {
    if let known = rows[key] { return known }
    let row = try reading.withRow(of: key) { source in
      StoredRow(
        values: key.entity.columns.indices.map { source.value(at: $0) }, collections: [], stamp: source.stamp)
    }
    rows[key] = .some(row)
    return row
  }

  /// The changed entities of a type.
  func changed(_ entity: EntityDescription) -> Set<StoredValue> { keys[entity] ?? [] }

  /// The entities of a type that were changed, or contain something that was: up along the references.
  func affected(_ entity: EntityDescription, _ contained: Set<EntityDescription>) throws -> Set<StoredValue> {
    var found = changed(entity)
    var open = contained.flatMap { type in changed(type).map { EntityKey(type, $0) } }
    var seen = Set(open)
    while let key = open.popLast() {
      for owner in contained where owner.targets.contains(where: { $0 == key.entity.type }) {
        for id in try reading.referrers(to: key, in: owner) {
          let ownerKey = EntityKey(owner, id)
          guard seen.insert(ownerKey).inserted else { continue }
          open.append(ownerKey)
          if owner == entity { found.insert(id) }
        }
      }
    }
    return found
  }
}
