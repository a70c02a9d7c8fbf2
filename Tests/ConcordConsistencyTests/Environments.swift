import ConcordConsistency

/// An owner that may be registered from anywhere.
// Unchecked because the manager calls it by one thread at a time, and the tests look at it when that is over.
final class Owner<Object: ConsistentObject>: @unchecked Sendable {
  var things: [Object]
  private(set) var updates: [any ConsistentObject] = []
  var onUpdate: (any ConsistentObject) -> Void = { _ in }

  init(_ things: Object...) {
    self.things = things
  }

  var thing: Object { things[0] }
}

extension Owner: ConsistentEnvironment {
  var objects: [ConsistentObject] { things }

  func update(with object: ConsistentObject) {
    updates.append(object)
    things = things.updated(with: object)
    onUpdate(object)
  }
}
