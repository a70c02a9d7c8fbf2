/// The pushes that an environment received and may not have merged yet.
///
/// Most environments have merged a push when their `update(with:)` returns; one that merges in the background, or on a queue
/// of its own, has later. Until then its objects do not tell which pushes it needs: one that undoes a push in flight changes
/// nothing in them. So it receives every push.
///
/// A removal in flight hides nothing: what it leaves is in the objects already.
struct InFlight {
  /// The last received state of each object while a push is in flight; otherwise that of the object whose change was found
  /// first.
  private var objects: [ObjectKey: any ConsistentObject] = [:]
  /// The place at which that object changed something.
  private var place = 0
  /// The number of states that are kept. A state that has arrived implies that earlier ones have, so the last ones suffice.
  private static let limit = 256

  /// Returns the first change of a push to the environment's objects, and whether the environment needs the push.
  mutating func look(
    at environment: any ConsistentEnvironment, for push: Push.Content
  ) -> (change: (place: Int, object: any ConsistentObject)?, mustTell: Bool) {
    let told = objects.isEmpty ? nil : ConsistentIndex(Array(objects.values))
    let isOne = objects.count == 1
    // A single change can usually be seen at the place where it was found.
    var look = ConsistentLook(for: push.index, arrivalOf: told.map { ($0, isOne ? place : nil) })
    environment.showObjects(to: &look)
    if let told {
      var finding = look.arrivalFinding
      if isOne, finding == .untouched {
        var whole = ConsistentLook(for: told)
        environment.showObjects(to: &whole)
        if whole.change != nil { finding = .changed }
      }
      if finding != .changed { objects.removeAll() }
    }
    return (look.change, look.change != nil || !(objects.isEmpty || wasTold(push.index)))
  }

  /// Whether the environment received all states of a push last. It may refuse one for good, and push its own whenever it is
  /// called.
  private func wasTold(_ index: ConsistentIndex) -> Bool {
    !index.removes
      && index.winners.allSatisfy { object in
        objects[ObjectKey(object)].map { SameState.isCertain(of: object, $0) } ?? false
      }
  }

  /// Notes that the environment receives a push, with the first change to its objects, if any.
  mutating func insert(_ push: Push.Content, changing change: (place: Int, object: any ConsistentObject)?) {
    let brought = push.index.updated
    if objects.isEmpty, let change, !push.index.removes {
      place = change.place
      objects[ObjectKey(change.object)] = change.object
      return
    }
    if objects.count + brought.count > Self.limit { objects.removeAll() }
    for object in brought.prefix(Self.limit) { objects[ObjectKey(object)] = object }
    if let change, !push.index.brings(removalOf: change.object) { objects[ObjectKey(change.object)] = change.object }
  }
}
