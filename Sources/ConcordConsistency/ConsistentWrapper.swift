/// A value without an identity that contains objects: a page of results, an enum of media types.
///
/// A merge visits its properties as those of an object, but never replaces the wrapper as a whole.
public protocol ConsistentWrapper: ConsistentValue {
  /// All properties that contain objects. Listing further ones is allowed.
  var properties: [Property] { get }

  /// Returns the value with one property replaced, by `nil` if the object in it was removed; returns `self` for an unknown
  /// label or value.
  func setting(property: Property) -> Self
}
