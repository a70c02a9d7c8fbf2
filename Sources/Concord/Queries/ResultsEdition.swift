import Synchronization

/// The identity of the results of one state, with the one change that made them of those of another state, if it was one: then nothing has to
/// be compared to know the difference.
///
/// It says where, and not what, so that it retains nothing.
struct ResultsEdition: Sendable {
  /// The number of the edition, which no other results have; 0 for results without one.
  private(set) var number: UInt64 = 0
  /// The number of the edition before the change; 0 if there was more than one change.
  private var former: UInt64 = 0
  /// The position in the former results of the entity that is not in these.
  private(set) var removed: Int?
  /// The position of the entity that is not in the former results.
  private(set) var inserted: Int?

  private static let last = Atomic<UInt64>(0)

  /// The edition after one change of these results.
  func changed(removed: Int?, inserted: Int?) -> ResultsEdition {
    var next = changed()
    (next.former, next.removed, next.inserted) = (number, removed, inserted)
    return next
  }

  /// The edition after any changes of these results.
  func changed() -> ResultsEdition {
    var next = ResultsEdition()
    next.number = Self.last.add(1, ordering: .relaxed).newValue
    return next
  }

  /// Whether one change made these results of earlier ones.
  func follows(_ other: ResultsEdition) -> Bool { former != 0 && former == other.number }
}
