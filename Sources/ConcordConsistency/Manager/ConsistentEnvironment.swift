/// An owner of objects, such as a screen, whose objects are kept consistent with those of other owners.
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
  /// The objects that the environment owns now.
  var objects: [any ConsistentObject] { get }

  /// Merges a pushed object into the environment's objects. If several objects were pushed at once, or any was removed,
  /// `object` is a ``ConsistentBatch`` of them, which merges like any other object.
  func update(with object: any ConsistentObject)

  /// Handles the removal of one of the environment's ``objects``, or of an object that one requires: a screen closes, for
  /// example.
  ///
  /// Called after `update(with:)`. The default does nothing, since a collection has lost the object by then.
  func objectWasRemoved(_ object: any ConsistentObject)

  /// Passes the environment's objects to a search for the changes of a push. The default passes ``objects``.
  ///
  /// An owner of a long list may implement it, so that its objects need not be boxed for each push:
  /// ```swift
  /// func showObjects(to look: inout ConsistentLook) { look.look(into: videos) }
  /// ```
  /// It must pass all of ``objects``, always in the same order.
  func showObjects(to look: inout ConsistentLook)
}

extension ConsistentEnvironment {
  public func objectWasRemoved(_ object: any ConsistentObject) {}

  public func showObjects(to look: inout ConsistentLook) {
    for object in objects { look.look(into: object) }
  }
}
