public import ConcordPersistence

/// A reference to an entity of any type, by its type and id.
public struct AnyEntityReference: Hashable, Sendable {
  /// The type of the entity.
  public let type: any PersistentEntity.Type
  // Unchecked by the compiler, since `AnyHashable` is not `Sendable`; the id of a persistent entity is.
  /// The id of the entity.
  nonisolated(unsafe) public let id: AnyHashable

  /// Creates a reference to an entity.
  public init<T: PersistentEntity>(_ type: T.Type, id: T.ID) {
    self.type = type
    self.id = AnyHashable(id)
  }

  public static func == (a: Self, b: Self) -> Bool { a.type == b.type && a.id == b.id }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type))
    hasher.combine(id)
  }

  /// The key of its row.
  ///
  /// - Throws: ``/ConcordModel/StoreError/unknownEntity(_:)`` if the type is not in the model.
  func key(in model: Model) throws -> EntityKey {
    func storedKey<T: PersistentEntity>(_ type: T.Type) throws -> EntityKey {
      let entity = try model.entity(type)
      guard let id = self.id.base as? T.ID else { throw StoreError.notFound(entity: entity.name, id: "\(self.id)") }
      return EntityKey(entity, try T.storedKey(of: id))
    }
    return try storedKey(self.type)
  }
}

extension AnyEntityReference: CustomStringConvertible {
  public var description: String { "\(type.entityName) \(id)" }
}

extension ForwardAction {
  /// Returns the keys of all entities that the change needs.
  package func keys(in model: Model) throws -> [EntityKey] { try ([entity] + touches).map { try $0.key(in: model) } }
}
