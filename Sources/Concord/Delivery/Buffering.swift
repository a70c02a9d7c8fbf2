/// A choice of the states that an observer on a queue or an actor receives when it is slower than the writers.
///
/// ```swift
/// let subscription = observer.observe(buffering: .every) { book in history.append(book) }
/// ```
public enum Buffering: Sendable, Hashable {
  /// The newest committed state when it is the observer's turn, once, whatever was skipped. A waiting notice holds no value.
  case newestOnly
  /// Each state, but at most the given number of the newest waiting ones. Each is held until it is delivered.
  case newest(Int)
  /// Each state. All waiting ones are held.
  case every

  /// The greatest number of values that may wait; `nil` if none is held.
  var limit: Int? {
    switch self {
    case .newestOnly: nil
    case .newest(let count): count <= 1 ? nil : count
    case .every: .max
    }
  }
}
