import Foundation

/// A batch of objects that are merged as one, and of objects that were removed: the argument of
/// ``ConsistentEnvironment/update(with:)`` when several were pushed, or any was removed.
///
/// Merging a batch walks through the value once, however many objects the batch has. Removed objects are removed from the
/// value: an optional becomes `nil`, a collection and a dictionary lose them, and an object that requires one is removed with
/// it.
public struct ConsistentBatch: ConsistentObject {
  public let id = UUID().uuidString
  /// The objects, in the order in which they were given.
  public let objects: [any ConsistentObject]
  /// The objects that were removed.
  public let removed: [any ConsistentObject]
  let index: ConsistentIndex

  /// Creates a batch of new states, and of objects that were removed.
  public init(_ objects: [any ConsistentObject], removing removed: [any ConsistentObject] = []) {
    self.objects = objects
    self.removed = removed
    index = ConsistentIndex(objects, removing: removed)
  }

  public var properties: [Property] { [("objects", objects)] }

  /// Returns the batch unchanged, since it has no settable properties.
  public func setting(property: Property) -> ConsistentBatch { self }
}
