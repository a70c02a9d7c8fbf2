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

  /// Merges `object` into those that it owns. When several objects were pushed at once, or any was
  /// removed, `object` is a ``ConsistentBatch`` of them, which merges like any other object.
  func update(with object: any ConsistentObject)

  /// Called after `update(with:)` for each of its ``objects`` that was removed, or that cannot do without what was: a screen
  /// closes, for example. By default nothing happens, since a collection has lost the object by then.
  func objectWasRemoved(_ object: any ConsistentObject)

  /// Shows what it owns to a look for what a push changes: ``objects``, unless it says otherwise.
  ///
  /// An owner of a long list may write it, and save that each object is boxed for each push:
  /// ```swift
  /// func showObjects(to look: inout ConsistentLook) { look.look(into: videos) }
  /// ```
  /// It must show all of ``objects``, in one order.
  func showObjects(to look: inout ConsistentLook)
}

extension ConsistentEnvironment {
  public func objectWasRemoved(_ object: any ConsistentObject) {}

  public func showObjects(to look: inout ConsistentLook) {
    for object in objects { look.look(into: object) }
  }
}
