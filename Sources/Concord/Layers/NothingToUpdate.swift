/// Why a layer was dropped: an `update` in its closure found no entity, or an alias that names nothing.
///
/// ``EntityStore/updateOutcome(_:id:modifiedAt:update:)`` says so to the closure instead, which may then do something else.
public struct NothingToUpdate: Error, CustomStringConvertible {
  /// The type of the entity, or of what the alias names.
  public let type: Any.Type
  /// The entity or the alias, to be read.
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
