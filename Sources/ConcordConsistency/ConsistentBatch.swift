import Foundation

/// Several objects that are merged as one: what ``ConsistentEnvironment/update(with:)`` gets when several were pushed.
///
/// Merging a value with a batch goes through the value once, however many objects there are.
public struct ConsistentBatch: ConsistentObject {
  public let id = UUID().uuidString
  /// The objects, in the order in which they were given.
  public let objects: [any ConsistentObject]
  let index: ConsistentIndex

  public init(_ objects: [any ConsistentObject]) {
    self.objects = objects
    index = ConsistentIndex(objects)
  }

  public var properties: [Property] { [("objects", objects)] }

  /// A batch is what it is made of: `self`, whatever is set.
  public func setting(property: Property) -> ConsistentBatch { self }
}
