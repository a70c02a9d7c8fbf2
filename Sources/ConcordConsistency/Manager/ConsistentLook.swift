/// A search of an environment's objects for those that a push changes.
///
/// See ``ConsistentEnvironment/showObjects(to:)``.
public struct ConsistentLook: ~Copyable {
  /// The search for changes of the push.
  private let merge: ConsistentMerge
  /// The search for an earlier push that may not have arrived, at one place if that is known.
  private let arrival: (merge: ConsistentMerge, place: Int?)?
  /// The number of values searched.
  private var count = 0
  /// The number of the value in which the first change was found.
  private var place = 0

  init(for index: ConsistentIndex, arrivalOf told: (index: ConsistentIndex, place: Int?)? = nil) {
    merge = ConsistentMerge(index, for: .looking(untilTouched: false))
    arrival = told.map { (ConsistentMerge($0.index, for: .looking(untilTouched: $0.place != nil)), $0.place) }
  }

  /// Searches a value: an object, or a collection of objects, which are not boxed.
  public mutating func look<Value: ConsistentValue>(into value: Value) {
    if let arrival, !arrival.merge.isOver, arrival.place == nil || arrival.place == count {
      _ = value.merged(by: arrival.merge)
    }
    if !merge.isOver {
      _ = value.merged(by: merge)
      place = count
    }
    count += 1
  }

  /// The first change, and the number of the value in which it was found.
  var change: (place: Int, object: any ConsistentObject)? { merge.changed.map { (place, $0) } }

  /// The finding of the search for an earlier push.
  var arrivalFinding: ConsistentMerge.Finding { arrival?.merge.finding ?? .untouched }
}
