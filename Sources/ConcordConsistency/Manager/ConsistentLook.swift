/// A look at what an environment owns, to find out whether a push changes any of it.
///
/// See ``ConsistentEnvironment/showObjects(to:)``.
public struct ConsistentLook: ~Copyable {
  /// Looks for what the push changes.
  private let merge: ConsistentMerge
  /// Looks whether what was told before has arrived, at one place if that is known.
  private let arrival: (merge: ConsistentMerge, place: Int?)?
  /// How many values it was shown.
  private var count = 0
  /// Among which of them the first change was found.
  private var place = 0

  init(for index: ConsistentIndex, arrivalOf told: (index: ConsistentIndex, place: Int?)? = nil) {
    merge = ConsistentMerge(index, for: .looking(untilTouched: false))
    arrival = told.map { (ConsistentMerge($0.index, for: .looking(untilTouched: $0.place != nil)), $0.place) }
  }

  /// Looks into a value: an object, or a collection of objects, which is walked without boxing them.
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

  /// What was found of that which was told before.
  var arrivalFinding: ConsistentMerge.Finding { arrival?.merge.finding ?? .untouched }
}
