/// An owner of objects, such as a screen, that wants them to follow what others know of them.
///
/// ```swift
/// extension ProfileViewController: @MainActor ConsistentEnvironment {
///   var objects: [any ConsistentObject] { [user] }
///
///   func update(with object: any ConsistentObject) {
///     user = user.updated(with: object)
///   }
/// }
/// ```
///
/// Register it with ``ConsistencyManager/register(_:isolation:)``.
public protocol ConsistentEnvironment: AnyObject {
  /// The objects that it owns now.
  var objects: [any ConsistentObject] { get }

  /// Merges `object` into those that it owns. When several objects were pushed at once, `object` is a
  /// ``ConsistentBatch`` of them, which merges like any other object.
  func update(with object: any ConsistentObject)
}
