import Foundation

/// Several objects that are merged as one, and objects that were removed: what ``ConsistentEnvironment/update(with:)`` gets
/// when several were pushed, or any was removed.
///
/// Merging a value with a batch goes through the value once, however many objects there are. What was removed is taken out:
/// an optional becomes `nil`, a collection and a dictionary lose it, and an object that cannot do without it goes with it.
public struct ConsistentBatch: ConsistentObject {
  public let id = UUID().uuidString
  /// The objects, in the order in which they were given.
  public let objects: [any ConsistentObject]
  /// Those that were removed.
  public let removed: [any ConsistentObject]
  let index: ConsistentIndex

  public init(_ objects: [any ConsistentObject], removing removed: [any ConsistentObject] = []) {
    self.objects = objects
    self.removed = removed
    index = ConsistentIndex(objects, removing: removed)
  }

  public var properties: [Property] { [("objects", objects)] }

  /// A batch is what it is made of: `self`, whatever is set.
  public func setting(property: Property) -> ConsistentBatch { self }
}
