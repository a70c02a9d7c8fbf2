/// Whether anything is left to do before the next operation begins or the transaction ends: nodes to be examined, observers to
/// be told, states to be forgotten. Most writes leave nothing, or only observers of what they changed, and one look here says so.
@usableFromInline final class Backlog {
  @exclusivity(unchecked) @usableFromInline private(set) var isEmpty = true
  /// Nothing else is left but observers to be told.
  @exclusivity(unchecked) private(set) var hasOnlyNotices = true

  func add() {
    isEmpty = false
    hasOnlyNotices = false
  }

  func addNotice() { isEmpty = false }

  func clear() {
    isEmpty = true
    hasOnlyNotices = true
  }
}
