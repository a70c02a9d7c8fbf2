/// The error with which a layer is dropped whose closure updates an entity that is not stored, or an alias that names nothing.
///
/// ``EntityStore/updateOutcome(_:id:modifiedAt:update:)`` tells the closure instead, which may then do something else.
public struct NothingToUpdate: Error, CustomStringConvertible {
  /// The type of the entity, or of the alias's content.
  public let type: Any.Type
  /// A description of the entity or the alias, for people.
  public let description: String

  init<T: Identifiable>(_ type: T.Type, id: T.ID) {
    self.type = type
    description = "\(type) \(id) is not stored"
  }

  init<T>(_ alias: AliasKey<T>) {
    type = T.self
    description = "the alias \(alias.name) names nothing"
  }

  init?(_ node: Node) {
    func make<T: Identifiable>(_ entity: T) -> NothingToUpdate { NothingToUpdate(T.self, id: entity.id) }
    guard let entity = node.table.entity(of: node) else { return nil }
    self = make(entity)
  }
}
