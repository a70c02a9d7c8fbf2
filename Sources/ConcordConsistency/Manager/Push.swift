/// Objects that were pushed, on their way to the environments.
final class Push: Sendable {
  /// What an environment is called with.
  let object: any ConsistentObject
  /// All that it brings, gathered once for all environments.
  let index: ConsistentIndex

  init(_ objects: [any ConsistentObject]) {
    if objects.count == 1 {
      object = objects[0]
      index = ConsistentIndex.of(object)
    } else {
      let batch = ConsistentBatch(objects)
      object = batch
      index = batch.index
    }
  }

  /// The objects that were pushed, each once, in the state that counts, as what is in them is.
  var objects: [any ConsistentObject] {
    guard let batch = object as? ConsistentBatch else { return [object] }
    var seen: Set<Int> = []
    return batch.objects.compactMap { object in
      index.position(of: object).flatMap { seen.insert($0).inserted ? index.winners[$0] : nil }
    }
  }
}
