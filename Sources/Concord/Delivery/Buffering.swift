/// Which states an observer on a queue or an actor is told when it is slower than the writers.
///
/// ```swift
/// let subscription = observer.observe(buffering: .every) { book in history.append(book) }
/// ```
public enum Buffering: Sendable, Hashable {
  /// The newest committed state when its turn comes, once, whatever was missed in between. A waiting notice holds no value.
  case newestOnly
  /// Each state, but of those that wait at most so many of the newest; each is held until it is told.
  case newest(Int)
  /// Each state; all that wait are held.
  case every

  /// How many values may wait; `nil` if none is held.
  var limit: Int? {
    switch self {
    case .newestOnly: nil
    case .newest(let count): count <= 1 ? nil : count
    case .every: .max
    }
  }
}
