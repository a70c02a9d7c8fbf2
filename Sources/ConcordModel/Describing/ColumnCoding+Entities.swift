// The codings that are known by an entity, and not by the type of a value alone.
extension ColumnCoding {
  /// The coding of the ids of a type, as they are stored where they are referred to.
  static func key<T: PersistentEntity>(of type: T.Type) -> ColumnCoding {
    ColumnCoding(String(describing: T.ID.self)) { _ = try T.id(storedKey: $0) }
  }

  static func reference<T: PersistentEntity>(to type: T.Type) -> ColumnCoding {
    ColumnCoding("reference(\(T.entityName))") { _ = try T.id(storedKey: $0) }
  }

  static let count = ColumnCoding("collection") { stored in
    guard case .integer(0...) = stored else { throw StoreError.unreadable(stored, as: Int.self) }
  }

  static func wrapperCase(of type: Any.Type) -> ColumnCoding {
    ColumnCoding("case(\(type))") { _ = try String(storedValue: $0) }
  }
}
