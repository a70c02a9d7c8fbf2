/// A check of rows that another program may have written: whether each value has the type of its column.
///
/// Of the program's own types it looks at the storage class only: what a later version of a type has written is no damage.
struct RowCheck: Sendable {
  fileprivate struct Column: Sendable {
    let name: String
    let storageClass: StorageClass
    let isOptional: Bool
    let coding: ColumnCoding
    /// The coding of the standard type as which the values are kept; `nil` if there is none.
    let standard: ColumnCoding?

    func check(_ value: StoredValue) throws {
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
    key = Column(
      name: "id", storageClass: keyStorageClass, isOptional: false, coding: keyCoding,
      standard: .comparing(named: keyCoding.name))
    self.columns = columns.map { Column($0) }
    self.collections = collections.map { ($0.name, $0.columns.map { Column($0) }) }
  }

  func check(_ row: StoredRow, key id: StoredValue) throws {
    try check(id, key, id)
    for (value, column) in zip(row.values, columns) { try check(value, column, id) }
    for (elements, collection) in zip(row.collections, collections) {
      for element in elements {
        for (value, column) in zip(element, collection.columns) {
          try check(value, column, id, in: collection.name)
        }
      }
    }
  }

  private func check(_ value: StoredValue, _ column: Column, _ id: StoredValue, in collection: String? = nil) throws {
    do { try column.check(value) } catch {
      throw StoreError.unreadableColumn(
        entity: entity, id: "\(id)", column: collection ?? column.name, reason: "\(error)")
    }
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
      name: column.name, storageClass: column.storageClass, isOptional: column.isOptional, coding: column.coding,
      standard: standard)
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
