public import ConcordPersistence

/// An entity that is identified by attributes instead of its id where it is merged with a web service's objects.
///
/// ```swift
/// extension Book: ManagedEntity {
///   static var uniquenessAttributes: [String] { ["catalogue", "number"] }
/// }
/// ```
///
/// Without it, the id identifies an object. Where the values of all attributes are the same, an object is the stored
/// entity, which keeps its id. Values are compared as keys are: texts that are equal in Swift are the same, and so are 0.0
/// and -0.0; `nil` equals `nil`.
public protocol ManagedEntity: PersistentEntity {
  /// The names of stored properties, each a plain value; `id` is the id.
  static var uniquenessAttributes: [String] { get }
}

extension EntityDescription {
  /// Returns the columns that identify an entity.
  ///
  /// - Throws: ``Errors/unmanagedEntity(_:)`` if one of the attributes is not there, or no plain value.
  func uniqueness() throws -> [StoredColumn] {
    guard let managed = type as? any ManagedEntity.Type else { return [.key] }
    let names = managed.uniquenessAttributes
    if names.isEmpty { throw Errors.unmanagedEntity("Entity '\(name)' has no uniqueness attributes") }
    return try names.map { name in
      if name == "id" { return .key }
      guard let position = columns.firstIndex(where: { $0.name == name && $0.role == .value }) else {
        throw Errors.unmanagedEntity("Entity '\(self.name)' has no plain attribute '\(name)' to be unique by")
      }
      return .position(position)
    }
  }
}
