import ConcordModel
import Foundation

/// Entities kept by a store without a configuration until the store of their configuration is attached.
///
/// From then on they would not be read any more, so attaching either moves them or throws.
extension PersistentStoreCoordinator {
  /// Rows that are not read, since another store keeps their entities.
  private struct Hidden {
    let entity: EntityDescription
    let holder: PersistentStore
    let home: PersistentStore
  }

  /// Moves what a store without a configuration holds for a store that is about to be attached, or the other way round.
  ///
  /// Copies are durable before rows are deleted, and the fresher of two rows with one id wins: an interrupted move
  /// continues with the next attaching. A row that is saved meanwhile is moved as it is then.
  ///
  /// - Returns: the entities that were moved.
  /// - Throws: ``/ConcordModel/StoreError/keptElsewhere(store:in:entities:)`` unless it is to be moved, and always where it would be
  ///   moved from a file into memory.
  @discardableResult
  func settleEntities(of new: PersistentStore, moves: Bool) throws -> Set<EntityDescription> {
    let hidden = try hidden(by: new)
    let refused = hidden.filter { !moves || $0.holder.isKept && !$0.home.isKept }
    if let first = refused.first {
      throw StoreError.keptElsewhere(
        store: first.holder.rows.name, in: first.home.rows.name,
        entities: refused.filter { $0.holder == first.holder && $0.home == first.home }.map(\.entity.name))
    }
    for part in hidden { try move(part) }
    return Set(hidden.map(\.entity))
  }

  private func hidden(by new: PersistentStore) throws -> [Hidden] {
    let attached = persistentStores
    let stores = attached.contains(new) ? attached : attached + [new]
    let configurations = stores.map(\.configuration)
    var found: [Hidden] = []
    for holder in stores where holder.configuration.isEmpty {
      for entity in model.entities {
        guard
          let home = stores.first(where: { model.isMeant(entity, for: $0.configuration, attached: configurations) }),
          !home.configuration.isEmpty, holder === new || home === new
        else { continue }
        let query = RowQuery(entity, limit: 1)
        do {
          if try holder.rows.read({ try $0.count(query) }) == 0 { continue }
        } catch StoreError.noStore {
          // A type of store need not have a place for an entity that is kept elsewhere.
          continue
        }
        found.append(Hidden(entity: entity, holder: holder, home: home))
      }
    }
    return found
  }

  private static let batch = 1000

  private func move(_ part: Hidden) throws {
    while true {
      var rows: [KeyedRow] = []
      try part.holder.rows.read { reading in
        rows = []
        try reading.rows(RowQuery(part.entity, limit: Self.batch)) { key, source in
          rows.append((EntityKey(part.entity, key), try StoredRow(source, part.entity)))
          return true
        }
      }
      if rows.isEmpty { return }
      try part.home.rows.write(origin: ObjectIdentifier(self)) { writing in
        for (key, row) in rows { try writing.insertOrReplaceOlder(row, for: key) }
        try drawMark(of: part.entity, in: writing)
      }
      try part.home.rows.synchronize()
      try part.holder.rows.write(origin: ObjectIdentifier(self)) { writing in
        // What was saved meanwhile is copied in the next round.
        for (key, row) in rows where try writing.row(of: key) == row { try writing.delete(key) }
        try drawMark(of: part.entity, in: writing)
      }
    }
  }

  /// Draws another mark in the place of that of a type's rows: they are not those that it was drawn for.
  private func drawMark(of entity: EntityDescription, in writing: any RowWriting) throws {
    let name = NoteName.rowsMark(entity)
    do {
      if try writing.note(name) != nil { try writing.setNote(UUID().uuidString.lowercased(), for: name) }
    } catch  where StoreError.isOfMissingNotes(error) {}
  }
}
