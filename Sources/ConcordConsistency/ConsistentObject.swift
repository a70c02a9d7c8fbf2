/// A named property of an object, as ``ConsistentObject/properties`` lists it.
public typealias Property = (label: String, value: Any?)

/// An object with an identity, into which newer states of the object, and of all objects inside it, can be merged.
///
/// ```swift
/// struct User: ConsistentObject {
///   let id: String
///   var name: String
///
///   var properties: [Property] { [("id", id), ("name", name)] }
///
///   func setting(property: Property) -> User {
///     var user = self
///     if property.label == "name", let name = property.value as? String { user.name = name }
///     return user
///   }
/// }
/// ```
///
/// Two objects are the same if they have the same type and the same id. The conformance of a type declared with `@Entity` is
/// generated, and faster: see ``StaticallyConsistent``.
///
/// A pushed object is read wherever it has an owner, so objects are `Sendable`: a struct of `Sendable` values, or a class
/// that never changes or guards its state. In a module that is isolated to the main actor by default, conforming types are
/// `nonisolated`, and can be merged on any thread; a conformance in an extension needs `nonisolated` before the type.
public protocol ConsistentObject: ConsistentValue, Sendable {
  /// The identity among the objects of the type.
  var id: String { get }

  /// The identity as a value, which merges compare; ``id`` by default.
  var consistentID: AnyHashable { get }

  /// All properties that contain objects. Listing further ones is allowed.
  var properties: [Property] { get }

  /// Returns the object with one property replaced by a value of the type that it has in ``properties``, or by `nil` if the
  /// object in it was removed. If `nil` is not accepted, this object is removed, too.
  ///
  /// For an unknown label or value return `self`. The merge notices it, and reports a ``ConsistencyProblem`` to
  /// ``ConsistencyManager/onProblem``.
  func setting(property: Property) -> Self
}

extension ConsistentObject {
  public var consistentID: AnyHashable { AnyHashable(id) }
}
