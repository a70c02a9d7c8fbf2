/// A named property of an object, as ``ConsistentObject/properties`` lists it.
public typealias Property = (label: String, value: Any?)

/// An object with an identity, which can take the newer state of itself and of all it contains from another object.
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
/// Two objects are the same one if they have the same type and the same id. The conformance of a type declared with
/// `@Entity` is generated, and faster: see ``StaticallyConsistent``.
///
/// An object that was pushed is read wherever it has an owner. So objects are `Sendable`: a struct of such values is, a
/// class is if it never changes or guards what does. Where code is on the main actor by default, the types that conform
/// are not, and can be merged on any thread; a conformance in an extension needs `nonisolated` before the type.
public protocol ConsistentObject: ConsistentValue, Sendable {
  /// What tells this object from others of its type.
  var id: String { get }

  /// The same identity as a value; ``id`` by default. It is this one that a merge compares.
  var consistentID: AnyHashable { get }

  /// All properties that hold other objects. Further ones do no harm.
  var properties: [Property] { get }

  /// This object with one property replaced by a value of the type it had in ``properties``, or by `nil` if the object in it
  /// was removed. Where `nil` is not taken, this object goes with that one.
  ///
  /// A label or a value that cannot be taken is ignored: return `self`. The merge notices, and reports a
  /// ``ConsistencyProblem`` to ``ConsistencyManager/onProblem``.
  func setting(property: Property) -> Self
}

extension ConsistentObject {
  public var consistentID: AnyHashable { AnyHashable(id) }
}
