import ConcordModel

extension PropertyRange {
  /// Whether the property is a collection with a table of its own, whose elements are told apart: entities. Wrappers have no identity.
  func hasElements(_ entity: EntityDescription) -> Bool {
    columns.count == 1 && collections.count == 1 && entity.columns[columns.lowerBound].role == .count
      && entity.collections[collections.lowerBound].elements.map(\.role) == [.reference]
  }

  /// Takes back, element by element, the change of a collection that other saves have changed since.
  ///
  /// - Parameters:
  ///   - missing: entities that are not stored any longer, which are not put back.
  ///   - kept: entities that stay where the change has put them.
  ///   - model: the model of the entities.
  /// - Returns: whether nothing of the change stays.
  func revertElements(
    from new: StoredRow, to old: StoredRow, in row: inout StoredRow, _ entity: EntityDescription,
    without missing: Set<EntityKey>, keeping kept: Set<EntityKey>, _ model: Model
  ) -> Bool {
    let (column, table) = (columns.lowerBound, collections.lowerBound)
    // Where there is no collection, as where it is `nil`, no element can be told apart.
    guard !row.values[column].isNull, !old.values[column].isNull, !new.values[column].isNull else { return false }
    let collection = entity.collections[table]
    let (before, after) = (Array(old.collections[table]), Array(new.collections[table]))
    var present = Array(row.collections[table])
    func identity(_ element: StoredElements.Element) -> StoredElements.Element {
      guard let key = collection.key, let value = element.first else { return element }
      // Equal keys may be stored differently, as 0.0 and -0.0.
      return [key.isExact ? value : key.coding.key(of: value) ?? value]
    }
    func areSame(_ a: StoredElements.Element, _ b: StoredElements.Element) -> Bool {
      collection.key == nil ? a == b : a.dropFirst().elementsEqual(b.dropFirst())
    }
    func refers(_ element: StoredElements.Element, to keys: Set<EntityKey>) -> Bool {
      // Any other value, such as a key of a dictionary, may be equal to the id of an entity.
      !keys.isEmpty
        && zip(element, collection.columns).contains { value, column in
          column.target.flatMap { model.entity(named: $0) }.map { keys.contains(EntityKey($0, value)) } ?? false
        }
    }
    func isMissing(_ element: StoredElements.Element) -> Bool { refers(element, to: missing) }
    let (idsBefore, idsAfter) = (before.map(identity), after.map(identity))
    guard Set(idsBefore).count == before.count, Set(idsAfter).count == after.count,
      Set(present.map(identity)).count == present.count
    else { return false }
    let (elementsBefore, elementsAfter) = (
      Dictionary(uniqueKeysWithValues: zip(idsBefore, before)), Dictionary(uniqueKeysWithValues: zip(idsAfter, after))
    )
    var isWhole = true
    present.removeAll { element in
      guard let added = elementsAfter[identity(element)], elementsBefore[identity(element)] == nil else { return false }
      if areSame(added, element), !refers(element, to: kept) { return true }
      isWhole = false
      return false
    }
    for index in present.indices {
      guard let old = elementsBefore[identity(present[index])], !areSame(present[index], old) else {
        continue
      }
      guard let new = elementsAfter[identity(present[index])] else {
        // Another save has put it under a key from which the step had taken something away.
        isWhole = false
        continue
      }
      if areSame(old, new) { continue }
      if areSame(present[index], new), !isMissing(old), !refers(new, to: kept) {
        present[index] = old
      } else {
        isWhole = false
      }
    }
    let ids = Set(present.map(identity))
    for (id, old) in elementsBefore {
      // Another save has taken away what the step has put under a key.
      if let new = elementsAfter[id], !areSame(new, old), !ids.contains(id) { isWhole = false }
    }
    if collection.isOrdered, present.restoreOrder(from: idsAfter, to: idsBefore, id: identity) == .overtaken {
      isWhole = false
    }
    present = present.inserting(
      before,
      where: { element in
        guard elementsAfter[identity(element)] == nil else { return false }
        if isMissing(element) { isWhole = false }
        return !isMissing(element)
      }, behind: { ids.contains(identity($0)) }, id: identity)
    row.collections[table] = StoredElements(present)
    row.values[column] = .integer(Int64(present.count))
    return isWhole
  }
}
