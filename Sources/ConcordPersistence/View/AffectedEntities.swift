import Concord
import ConcordModel

/// The stored entities that contain something that layers change, and what keeps them in the view as long as that is so: a query that looks
/// inside them may find them by what is shown there, though not by what is stored.
struct AffectedEntities<T: PersistentEntity> {
  private var kept: [StoredValue: any Sendable] = [:]
  private var found: Set<StoredValue> = []
  private var new: [StoredValue: T] = [:]

  var count: Int { found.count }

  /// Finds them, up along the stored references from what layers change.
  ///
  /// - Complexity: their number, and that of the changed entities.
  mutating func find(
    _ layered: Set<EntityKey>, _ entity: EntityDescription, _ contained: Set<EntityDescription>,
    _ reading: any RowReading, _ loader: EntityLoader
  ) throws {
    if layered.isEmpty, kept.isEmpty { return (found, new) = ([], [:]) }
    let all = try ChangedRows(layered, reading).affected(entity, contained)
    var missing: [StoredValue: T] = [:]
    for key in all where kept[key] == nil { missing[key] = try loader.find(T.self, key: key) }
    (found, new) = (all, missing)
  }

  /// Keeps in the view what was found last, and lets go of the rest.
  mutating func keep(in store: EntityStore) {
    if kept.count > 0 { kept = kept.filter { found.contains($0.key) } }
    for (key, value) in new { kept[key] = store.keep(value) }
    new = [:]
  }
}

/// The number of entities that a limited query keeps beyond the shown ones.
enum LayerMargin {
  /// Returns the margin for a number of entities that layers may take out. It grows and shrinks by factors, so that a query seldom fetches for it.
  static func of(_ count: Int, current: Int) -> Int {
    count > current || current > 32 && count < current / 8 ? (count == 0 ? 0 : max(8, 2 * count)) : current
  }
}
