import Concord
import ConcordModel

/// The collections of an entity that an update leaves out, and the changes of what they refer to.
final class LinkChanges {
  /// The positions of the columns with the counts of these collections.
  let positions: Set<Int>
  private let entity: EntityDescription
  private var before: StoredRow?
  /// The elements of the changed collections, by the position of the collection.
  private var changed: [Int: StoredElements] = [:]
  /// The values of the entities that were added.
  private var added: [any PersistentEntity] = []

  init<T: PersistentEntity>(_ entity: EntityDescription, of type: T.Type, leavingOut keyPaths: [PartialKeyPath<T>])
    throws
  {
    self.entity = entity
    var positions: Set<Int> = []
    for keyPath in keyPaths {
      let property = entity.position(of: keyPath).flatMap { position in
        entity.properties.first { $0.columns.lowerBound == position }
      }
      guard let property, property.columns.count == 1, property.collections.count == 1 else {
        throw StoreError.misdescribed(
          entity: entity.name, reason: "an update leaves out \(keyPath), which is no stored collection of entities")
      }
      positions.insert(property.columns.lowerBound)
    }
    self.positions = positions
  }

  var isChanged: Bool { !changed.isEmpty }

  /// Starts with the stored rows of the collections.
  func begin(with row: StoredRow) {
    before = row
    changed = [:]
    added = []
  }

  /// The position of a left out collection.
  func index(of keyPath: AnyKeyPath) throws -> Int {
    guard let position = entity.position(of: keyPath), positions.contains(position),
      let index = entity.countPositions.firstIndex(of: position)
    else {
      throw StoreError.misdescribed(
        entity: entity.name, reason: "the links of \(keyPath) are asked for, which the update does not leave out")
    }
    return index
  }

  func elements(_ index: Int) -> StoredElements { changed[index] ?? before?.collections[index] ?? [] }

  func change(_ index: Int, _ body: (inout StoredElements) throws -> Void) rethrows {
    var elements = elements(index)
    // Taken out, so that it is changed in place.
    changed[index] = nil
    defer { changed[index] = elements }
    try body(&elements)
  }

  func add(_ entity: some PersistentEntity) { added.append(entity) }

  /// The rows of the added entities and of those inside.
  func entities(_ model: Model, _ stamp: Stamp) throws -> [(key: EntityKey, row: StoredRow)] {
    try added.flatMap { value in
      let occurrences = try Occurrences(in: value, model: model, stamp: stamp)
      return occurrences.keys.compactMap { key in occurrences.winner(of: key).map { (key, $0.row) } }
    }
  }

  /// Replaces the changed collections of a row.
  func write(to row: inout StoredRow) {
    for (index, elements) in changed {
      row.collections[index] = elements
      row.values[entity.countPositions[index]] = .integer(Int64(elements.count))
    }
  }

  /// Checks that a closure has not set a collection that it was not shown.
  func check(_ edited: StoredRow, given: StoredRow) throws {
    for position in positions where edited.values[position] != given.values[position] {
      throw StoreError.misdescribed(
        entity: entity.name,
        reason: "an update sets '\(entity.columns[position].name)', which it leaves out; change its links instead")
    }
  }
}
