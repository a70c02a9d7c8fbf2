/// What an environment was told of and may not have taken yet.
///
/// Most have when their `update(with:)` returns; one that merges in the background, or by way of a queue of its own, has
/// later. Until then its objects say nothing about what it needs to be told: a push that takes back one in flight changes
/// nothing in them. So it is told of every push.
struct InFlight {
  /// The last state of each object that it was told of: all of them while something is in flight, otherwise the one whose
  /// change was found first.
  private var objects: [ObjectKey: any ConsistentObject] = [:]
  /// The place at which that one changed something.
  private var place = 0
  /// How many states are kept. One that arrives says that those before it have arrived, so the last ones will do.
  private static let limit = 256

  var isEmpty: Bool { objects.isEmpty }

  /// Looks whether all has arrived in what the environment owns.
  mutating func settle(in owned: [any ConsistentObject]) {
    guard !isEmpty else { return }
    let index = ConsistentIndex(Array(objects.values))
    // Mostly it can be seen where the change was found.
    if owned.indices.contains(place) {
      switch find(index, in: CollectionOfOne(owned[place])) {
      case .changed: return
      case .unchanged where objects.count == 1: return objects.removeAll()
      default: break
      }
    }
    if find(index, in: owned) != .changed { objects.removeAll() }
  }

  private func find(
    _ index: ConsistentIndex, in owned: some Collection<any ConsistentObject>
  ) -> ConsistentMerge.Finding {
    let merge = ConsistentMerge(index, for: .looking)
    for object in owned {
      merge.look(into: object)
      if merge.finding == .changed { break }
    }
    return merge.finding
  }

  /// Notes that the environment is told of `push`, and of the first change that this makes to what it owns, if any.
  mutating func insert(_ push: Push, changing change: (place: Int, object: any ConsistentObject)?) {
    if isEmpty, let change {
      place = change.place
      objects[ObjectKey(change.object)] = change.object
      return
    }
    let brought = push.index.winners
    if objects.count + brought.count > Self.limit { objects.removeAll() }
    for object in brought.prefix(Self.limit) { objects[ObjectKey(object)] = object }
    if let change { objects[ObjectKey(change.object)] = change.object }
  }
}
