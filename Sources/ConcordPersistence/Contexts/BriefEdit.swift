import ConcordModel

/// The difference between the value that a closure was given and the one that it left, in which entities of a cycle may
/// be brief: relations that lead back into the cycle are left out there, and so say nothing.
struct BriefEdit {
  private let given: Occurrences
  private let edited: Occurrences
  private let model: Model

  /// An occurrence that the closure changed, and that is stored.
  struct Winner {
    let occurrence: Occurrences.Occurrence
    /// The row that the closure was shown in the same place.
    let given: StoredRow?
    /// The properties that say nothing.
    let silent: [PropertyRange]
    /// The properties that are absent where they were shown, which a brief form would be, too.
    let undecidable: [PropertyRange]
  }

  init(given: Occurrences, edited: Occurrences, model: Model) {
    (self.given, self.edited, self.model) = (given, edited, model)
  }

  var keys: [EntityKey] { edited.keys }

  /// Returns the occurrence of an entity that is stored; `nil` if the closure did not change the entity.
  func winner(of key: EntityKey) -> Winner? {
    guard let occurrence = edited.winner(of: key, where: { !isKnown($0, key) }) else { return nil }
    let known = known(key)
    let (silent, emptied) = omitted(occurrence, key)
    return Winner(
      occurrence: occurrence, given: (known.first { $0.parent == occurrence.parent } ?? known.first)?.row,
      silent: silent, undecidable: emptied.filter { !$0.isCollection })
  }

  /// Whether a winner may be the brief form of the stored entity: it shows none of the relations that lead back into the
  /// entity's cycle.
  func mayBeBrief(_ winner: Winner, _ key: EntityKey, _ cycles: CycleLoader) throws -> Bool {
    _ = try cycles.load(key)
    guard let row = cycles.row(of: key), let component = cycles.component(of: key) else { return false }
    func leadsBack(_ property: PropertyRange) -> Bool {
      var single = row
      for other in key.entity.properties where other.name != property.name { other.clear(&single) }
      return key.entity.referencedKeys(of: single, in: model).contains { cycles.component(of: $0) == component }
    }
    return winner.undecidable.contains(where: leadsBack)
      && key.entity.properties.allSatisfy { !leadsBack($0) || $0.isAbsent(winner.occurrence.row) }
  }

  private func known(_ key: EntityKey) -> [Occurrences.Occurrence] { given.byKey[key] ?? [] }

  /// Returns the properties that an occurrence may leave out: those that are unchanged, and those that the closure was
  /// shown in the same place.
  private func omitted(
    _ occurrence: Occurrences.Occurrence, _ key: EntityKey
  ) -> (silent: [PropertyRange], emptied: [PropertyRange]) {
    var all = model.omittedProperties(of: occurrence, key.entity)
    let first = all.partition { property in
      !occurrence.omits(property)
        && known(key).contains { $0.parent == occurrence.parent && !property.isSame($0.row, occurrence.row) }
    }
    return (Array(all[..<first]), Array(all[first...]))
  }

  /// Whether the closure was given an occurrence, also if it is brief now.
  private func isKnown(_ occurrence: Occurrences.Occurrence, _ key: EntityKey) -> Bool {
    let (silent, emptied) = omitted(occurrence, key)
    return known(key).contains { known in
      // The outermost of all is whole, also if it became as a brief one was.
      if occurrence.depth == 0, known.depth > 0 { return false }
      // It did not move from where something stands still.
      let isThere = edited.byKey[key]?.contains { $0.parent == known.parent } ?? false
      if isThere, !emptied.isEmpty { return false }
      var row = occurrence.row
      for property in silent { property.copy(from: known.row, to: &row) }
      return known.row.holdsSame(as: row)
    }
  }
}

extension Model {
  /// Returns the properties of an occurrence that may be left out. The outermost value is brief only if a collection says
  /// so; inside of it an absent relation may be left out, too.
  func omittedProperties(of occurrence: Occurrences.Occurrence, _ entity: EntityDescription) -> [PropertyRange] {
    guard isRecursive(entity) else { return [] }
    if occurrence.depth > 0 { return omittedProperties(of: occurrence.row, entity) }
    return occurrence.omitted.isEmpty ? [] : entity.properties.filter(occurrence.omits)
  }

  /// Returns the properties of a nested row that may be left out.
  func omittedProperties(of row: StoredRow, _ entity: EntityDescription) -> [PropertyRange] {
    entity.properties.filter { property in
      property.targets.contains { (try? self.entity($0)).map(isRecursive) ?? false } && property.isAbsent(row)
    }
  }
}

extension Occurrences.Occurrence {
  /// Whether a property holds a collection that the value leaves out, and nothing else.
  func omits(_ property: PropertyRange) -> Bool {
    property.isAbsent(row) && property.columns.contains(where: omitted.contains)
  }
}

extension PropertyRange {
  /// Whether a row holds nothing there.
  fileprivate func isAbsent(_ row: StoredRow) -> Bool {
    columns.allSatisfy { row.values[$0].isNull || row.values[$0] == .integer(0) }
  }

  /// Whether the property is a collection, which a brief form replaces by one that is recognised.
  fileprivate var isCollection: Bool { columns.count == 1 && collections.count == 1 }

  fileprivate func clear(_ row: inout StoredRow) {
    for column in columns { row.values[column] = .null }
    for collection in collections { row.collections[collection] = [] }
  }
}
