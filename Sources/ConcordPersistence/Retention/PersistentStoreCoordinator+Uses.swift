import Concord
import ConcordModel
import Foundation

// The notes of a store about the times at which its entities were found: one for each entity.
extension PersistentStoreCoordinator {
  private static func space(_ entity: EntityDescription) -> String { "retention.uses \(entity.name)" }

  /// Writes the uses that are known here, and in no store.
  func saveUses() {
    // Found before: what was used in a store that is exchanged meanwhile is not written to the next one.
    let stores = model.entities.reduce(into: [:]) { $0[$1] = store(of: $1) }
    for (entity, dates) in uses.takeUnsaved() {
      do {
        try stores[entity]?.rows.write(origin: ObjectIdentifier(self)) { writing in
          // Another process may have written a later one.
          let saved = try Self.saved(entity, writing)
          for (key, date) in dates where date > saved[key] ?? -.infinity {
            try writing.setNote("\(date)", for: NoteName(Self.space(entity), key.noteName))
          }
        }
      } catch {
        // Nothing depends on it but what a later run purges.
        uses.didNotSave(dates.keys, of: entity)
      }
    }
  }

  /// Returns when the entities of a type were found last, here, by another process or in an earlier run.
  func lastUses(of entity: EntityDescription) -> [StoredValue: TimeInterval] {
    // A store of another kind may keep no notes. What fails in all other stores fails again in the purge, and is told there.
    let saved = (try? store(of: entity)?.rows.read { try Self.saved(entity, $0) }) ?? [:]
    return uses.dates(of: entity).merging(saved) { max($0, $1) }
  }

  private static func saved(
    _ entity: EntityDescription, _ reading: any RowReading
  ) throws -> [StoredValue: TimeInterval] {
    reading.mayReadAgain()
    var dates: [StoredValue: TimeInterval] = [:]
    try reading.notes(in: space(entity), after: nil) { name, text in
      if let key = StoredValue(noteName: name[...]), let date = Double(text) { dates[key] = date }
      return true
    }
    return dates
  }

  /// Forgets the uses of entities that are not stored any longer.
  ///
  /// - Complexity: the number of stored entities of the type, where there are more uses than these.
  func forgetUses(_ known: some Collection<StoredValue>, ofAbsent entity: EntityDescription) throws {
    if known.isEmpty { return }
    let stored: Set<StoredValue>? = try read([entity]) { reading in
      guard try reading.count(RowQuery(entity)) < known.count else { return nil }
      var keys: Set<StoredValue> = []
      try reading.rows(RowQuery(entity)) { key, _ in
        keys.insert(key)
        return true
      }
      return keys
    }
    if let stored { forgetUses(of: known.filter { !stored.contains($0) }, entity) }
  }

  private func forgetUses(of keys: [StoredValue], _ entity: EntityDescription) {
    uses.forget(keys, of: entity)
    _ = try? store(of: entity)?.rows.write(origin: ObjectIdentifier(self)) { writing in
      for key in keys { try writing.setNote(nil, for: NoteName(Self.space(entity), key.noteName)) }
    }
  }
}
