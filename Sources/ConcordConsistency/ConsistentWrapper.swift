/// A value without an identity of its own that contains objects: a page of results, an enum of media types.
///
/// A merge goes through its properties as through those of an object, but never replaces it as a whole.
public protocol ConsistentWrapper: ConsistentValue {
  /// All properties that hold objects. Further ones do no harm.
  var properties: [Property] { get }

  /// This value with one property replaced, by `nil` if the object in it was removed; `self` if it cannot be taken.
  func setting(property: Property) -> Self
}
