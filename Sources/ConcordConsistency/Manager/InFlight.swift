/// What an environment was told of and may not have taken yet.
///
/// Most have when their `update(with:)` returns; one that merges in the background, or by way of a queue of its own, has
/// later. Until then its objects say nothing about what it needs to be told: a push that takes back one in flight changes
/// nothing in them. So it is told of every push.
///
/// A removal on its way hides nothing: what it leaves is in the objects already.
struct InFlight {
  /// The last state of each object that it was told of: all of them while something is in flight, otherwise the one whose
  /// change was found first.
  private var objects: [ObjectKey: any ConsistentObject] = [:]
  /// The place at which that one changed something.
  private var place = 0
  /// How many states are kept. One that arrives says that those before it have arrived, so the last ones will do.
  private static let limit = 256

  /// The first change that `push` makes to what the environment owns, and whether it needs to be told.
  mutating func look(
    at environment: any ConsistentEnvironment, for push: Push.Content
  ) -> (change: (place: Int, object: any ConsistentObject)?, mustTell: Bool) {
    let told = objects.isEmpty ? nil : ConsistentIndex(Array(objects.values))
    let isOne = objects.count == 1
    // If it is one change, it can mostly be seen where that was found.
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

  /// Whether all that `push` brings is what the environment was told last. It may refuse something for good, and push what
  /// it has whenever it is told.
  private func wasTold(_ index: ConsistentIndex) -> Bool {
    !index.removes
      && index.winners.allSatisfy { object in
        objects[ObjectKey(object)].map { SameState.isCertain(of: object, $0) } ?? false
      }
  }

  /// Notes that the environment is told of `push`, and of the first change that this makes to what it owns, if any.
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
