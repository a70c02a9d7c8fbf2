import ConcordModel

/// The entities in values, each with its own row. Of several values of one entity the outermost counts, or the last of
/// equally nested ones.
final class Occurrences: EntitySink {
  private(set) var keys: [EntityKey] = []
  private(set) var byKey: [EntityKey: [Occurrence]] = [:]
  private let model: Model
  private let stamp: Stamp
  /// The entities that are still to be written, in the order of their depths: a chain of any length needs no deep recursion.
  private var queue: [(value: any PersistentEntity, depth: Int, parent: EntityKey?)] = []
  /// The depth of the entities inside the one that is being written.
  private var depth = 0
  private var parent: EntityKey?
  /// The columns of collections that the value being written leaves out.
  private var omitted: Set<Int> = []

  struct Occurrence {
    let row: StoredRow
    /// The columns of collections that the value leaves out, because it is brief.
    let omitted: Set<Int>
    let depth: Int
    /// The entity whose value contains this one; `nil` for the outermost.
    let parent: EntityKey?
  }

  /// Collects the entities in a value.
  init(in value: some PersistentEntity, model: Model, stamp: Stamp) throws {
    self.model = model
    self.stamp = stamp
    queue.append((value, 0, nil))
    var next = 0
    while next < queue.count {
      let (value, depth, parent) = queue[next]
      try write(value, depth, parent)
      next += 1
    }
    queue = []
  }

  /// Adds an entity inside the one that is being written.
  func visit<T: PersistentEntity>(_ entity: T) { queue.append((entity, depth, parent)) }

  func didOmit(column: Int) { omitted.insert(column) }

  private func write<T: PersistentEntity>(_ value: T, _ depth: Int, _ parent: EntityKey?) throws {
    let entity = try model.entity(T.self)
    let key = try Self.key(of: value, entity)
    if byKey[key] == nil { keys.append(key) }
    (self.depth, self.parent, omitted) = (depth + 1, key, [])
    let row = try entity.row(of: value, stamp: stamp, sink: self)
    byKey[key, default: []].append(Occurrence(row: row, omitted: omitted, depth: depth, parent: parent))
  }

  static func key<T: PersistentEntity>(of value: T, _ entity: EntityDescription) throws -> EntityKey {
    let key = EntityKey(entity, try T.storedKey(of: value.id))
    if key.id.isNull {
      throw StoreError.misdescribed(entity: entity.name, reason: "an id that is stored as NULL")
    }
    return key
  }

  /// Returns the value of an entity that is stored, of those that meet a condition.
  func winner(of key: EntityKey, where isConsidered: (Occurrence) -> Bool = { _ in true }) -> Occurrence? {
    var winner: Occurrence?
    for occurrence in byKey[key] ?? [] where isConsidered(occurrence) {
      if occurrence.depth <= winner?.depth ?? .max { winner = occurrence }
    }
    return winner
  }
}
