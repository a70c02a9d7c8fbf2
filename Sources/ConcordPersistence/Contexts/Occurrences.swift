import ConcordModel

/// The entities in values, each with its own row: the outermost of several of one entity counts, among equals the last.
final class Occurrences: EntitySink {
  private(set) var keys: [EntityKey] = []
  private(set) var byKey: [EntityKey: [Occurrence]] = [:]
  private let model: Model
  private let stamp: Stamp
  private var depth = 0

  struct Occurrence {
    let row: StoredRow
    let depth: Int
  }

  init(model: Model, stamp: Stamp) {
    self.model = model
    self.stamp = stamp
  }

  func visit<T: PersistentEntity>(_ value: T) throws {
    let entity = try model.entity(T.self)
    let key = EntityKey(entity, try T.storedKey(of: value.id))
    if key.id.isNull {
      throw StoreError.misdescribed(entity: entity.name, reason: "an id that is stored as NULL")
    }
    // The place in line is taken before what is inside is visited.
    if byKey[key] == nil {
      keys.append(key)
      byKey[key] = []
    }
    depth += 1
    let row = try entity.row(of: value, stamp: stamp, sink: self)
    depth -= 1
    byKey[key]?.append(Occurrence(row: row, depth: depth))
  }

  /// The one that counts, of those that fulfil a condition.
  func winner(of key: EntityKey, where isConsidered: (Occurrence) -> Bool = { _ in true }) -> Occurrence? {
    var winner: Occurrence?
    for occurrence in byKey[key] ?? [] where isConsidered(occurrence) {
      if occurrence.depth <= winner?.depth ?? .max { winner = occurrence }
    }
    return winner
  }
}
