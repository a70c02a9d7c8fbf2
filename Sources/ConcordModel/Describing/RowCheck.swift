/// A check of rows that another program may have written: whether each value has the type of its column.
///
/// Of the program's own types it looks at the storage class only: what a later version of a type has written is no damage.
struct RowCheck: Sendable {
  fileprivate struct Column: Sendable {
    let name: String
    /// The class of which the column takes each value; `nil` if it takes some of them only.
    let whole: StorageClass?
    let storageClass: StorageClass
    let isOptional: Bool
    let coding: ColumnCoding
    /// The coding of the standard type as which the values are kept; `nil` if there is none.
    let standard: ColumnCoding?

    func check(_ value: StoredValue) throws {
      // Fast path: most values, and no type is asked.
      if let whole, whole.holds(value) { return }
      if value.isNull {
        if isOptional { return }
      } else if let standard {
        if standard.canRead(value) { return }
      } else if storageClass.holds(value) {
        return
      }
      // The program's own type may keep its values in another class, or be called as a standard one.
      try coding.checkReadable(value)
    }
  }

  private let entity: String
  private let key: Column
  private let columns: [Column]
  private let collections: [(name: String, columns: [Column])]

  init(
    entity: String, keyStorageClass: StorageClass, keyCoding: ColumnCoding, columns: [ColumnDescription],
    collections: [CollectionDescription]
  ) {
    self.entity = entity
    key = Column("id", keyStorageClass, isOptional: false, keyCoding, standard: .comparing(named: keyCoding.name))
    self.columns = columns.map { Column($0) }
    self.collections = collections.map { ($0.name, $0.columns.map { Column($0) }) }
  }

  func check(_ row: StoredRow, key id: StoredValue) throws {
    do { try key.check(id) } catch { throw unreadable(id, key.name, error) }
    // By index: columns are not copied.
    for index in columns.indices where row.values.indices.contains(index) {
      do { try columns[index].check(row.values[index]) } catch { throw unreadable(id, columns[index].name, error) }
    }
    for (elements, collection) in zip(row.collections, collections) where !elements.isEmpty {
      for element in elements.indices {
        for index in collection.columns.indices where index < elements.width {
          do { try collection.columns[index].check(elements[element, index]) } catch {
            throw unreadable(id, collection.name, error)
          }
        }
      }
    }
  }

  private func unreadable(_ id: StoredValue, _ column: String, _ error: any Error) -> StoreError {
    .unreadableColumn(entity: entity, id: "\(id)", column: column, reason: "\(error)")
  }
}

extension RowCheck.Column {
  init(_ column: ColumnDescription) {
    let standard: ColumnCoding? =
      switch column.role {
      case .value: .comparing(named: column.coding.name)
      case .count: column.coding
      case .reference, .wrapperCase: nil
      }
    self.init(
      column.name, column.storageClass, isOptional: column.isOptional, column.coding, standard: standard)
  }

  /// The standard types of which each value of a storage class is one.
  private static let wholeClasses: [String: StorageClass] = [
    "Int": .integer, "Int64": .integer, "Double": .real, "Date": .real, "String": .text, "Data": .blob,
  ]

  init(
    _ name: String, _ storageClass: StorageClass, isOptional: Bool, _ coding: ColumnCoding, standard: ColumnCoding?
  ) {
    let whole = standard.flatMap { Self.wholeClasses[$0.name] }
    self.init(
      name: name, whole: whole, storageClass: storageClass, isOptional: isOptional, coding: coding, standard: standard)
  }
}

extension StorageClass {
  /// Whether a column of the class keeps such values as they are.
  fileprivate func holds(_ value: StoredValue) -> Bool {
    switch (self, value) {
    case (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob), (.any, _): true
    default: false
    }
  }
}
