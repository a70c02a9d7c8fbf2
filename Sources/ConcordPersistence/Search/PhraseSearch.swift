/// A search for a run of elements within a longer one, which passes none of its elements twice.
///
/// It is the algorithm of Knuth, Morris and Pratt ("Fast Pattern Matching in Strings", 1977). The elements themselves are those of the caller,
/// who compares them.
struct PhraseSearch: Sendable {
  /// For each number of elements that stand already, the number of those that still do if the next one differs; -1 if that cannot be the
  /// first one either. The last is for what follows the whole run.
  private let fallbacks: [Int]

  /// The number of elements of the run.
  private var count: Int { fallbacks.count - 1 }

  /// - Parameter areSame: whether two elements of the run are the same, by their positions.
  /// - Complexity: O(*count*) comparisons.
  init(count: Int, _ areSame: (Int, Int) -> Bool) {
    var fallbacks = [-1]
    fallbacks.reserveCapacity(count + 1)
    var known = 0
    for position in 0..<max(0, count) {
      if position > 0 {
        fallbacks.append(areSame(position, known) ? fallbacks[known] : known)
        while known >= 0, !areSame(position, known) { known = fallbacks[known] }
        known += 1
      }
    }
    if count > 0 { fallbacks.append(known) }
    self.fallbacks = fallbacks
  }

  /// Passes the positions at which the run begins, in order.
  ///
  /// - Parameters:
  ///   - length: the number of elements that are looked at.
  ///   - isSame: whether an element is one of the run: their positions in what is looked at, and in the run.
  ///   - body: a closure that receives each position; it returns `false` to end.
  /// - Complexity: O(*length*) comparisons, at most two for each element.
  @inline(__always)
  func forEachPlace(in length: Int, isSame: (Int, Int) -> Bool, _ body: (Int) -> Bool) {
    // Nothing stands everywhere.
    if count == 0 {
      for position in 0..<max(0, length) where !body(position) { return }
      return
    }
    var known = 0
    for position in 0..<max(0, length) {
      while known >= 0, !isSame(position, known) { known = fallbacks[known] }
      known += 1
      guard known == count else { continue }
      if !body(position + 1 - count) { return }
      known = fallbacks[count]
    }
  }
}
