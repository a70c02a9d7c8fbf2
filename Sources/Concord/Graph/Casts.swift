// Invariant: a node is made for a table of its own type, which saves its values as of that type, too; a table's `valueType`
// and the `rootType` of a schema or of a list of schemas are the types that they were made for; a schema's places are the
// relations of its type; none of them ever changes. The type is checked before each cast, at the cost of one comparison where
// `as?` takes a search.

extension Node {
  /// Returns the node as that of an entity of type `T`, if it is one.
  @inlinable @inline(__always) final func typed<T>(_ type: T.Type) -> EntityNode<T>? {
    table.valueType == ObjectIdentifier(type) ? unsafeDowncast(self, to: EntityNode<T>.self) : nil
  }
}

extension SavedState {
  /// Returns the state as one with a value of type `T`, if it is.
  @inlinable @inline(__always) final func typed<T>(_ type: T.Type) -> SavedValue<T>? {
    hasValue && node.table.valueType == ObjectIdentifier(type) ? unsafeDowncast(self, to: SavedValue<T>.self) : nil
  }
}

extension AnyTable {
  /// Returns the table as that of entities of type `T`, if it is one.
  @inlinable @inline(__always) final func typed<T: Identifiable & Sendable>(_ type: T.Type) -> Table<T>? {
    valueType == ObjectIdentifier(type) ? unsafeDowncast(self, to: Table<T>.self) : nil
  }
}

extension AnySchema {
  /// Returns the schema as that of values of type `Root`, if it is one.
  @inlinable @inline(__always) final func typed<Root>(_ type: Root.Type) -> Schema<Root>? {
    rootType == ObjectIdentifier(type) ? unsafeDowncast(self, to: Schema<Root>.self) : nil
  }
}

extension AnySchemas {
  /// Returns the schemas as those of type `Root`, if they are.
  @inlinable @inline(__always) final func typed<Root>(_ type: Root.Type) -> Schemas<Root>? {
    rootType == ObjectIdentifier(type) ? unsafeDowncast(self, to: Schemas<Root>.self) : nil
  }
}

extension Schema {
  /// Returns a relation. An array of typed relations would ask the runtime for their type each time in unspecialised code.
  @inlinable @inline(__always) subscript(k: Int) -> Relation<Root> {
    unsafeDowncast(places[k], to: Relation<Root>.self)
  }
}

extension Borrowed {
  /// Returns the table as that of entities of type `T`, if it is one, without counting references.
  @inlinable @inline(__always) func typed<T: Identifiable & Sendable>(
    _ type: T.Type
  ) -> Borrowed<Table<T>>? where Object == AnyTable {
    use { $0.valueType == ObjectIdentifier(type) } ? Borrowed<Table<T>>(downcasting: self) : nil
  }

  @inlinable @inline(__always) func typed<T>(_ type: T.Type) -> Borrowed<EntityNode<T>>? where Object == Node {
    use { $0.table.valueType == ObjectIdentifier(type) } ? Borrowed<EntityNode<T>>(downcasting: self) : nil
  }
}
