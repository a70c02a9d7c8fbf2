/// A flag for work left before the next operation begins or the transaction ends: nodes to examine, observers to notify,
/// states to discard. Most writes leave none, or only observers to notify, which one look at the flag tells.
@usableFromInline final class Backlog {
  @exclusivity(unchecked) @usableFromInline private(set) var isEmpty = true
  /// Whether the only work left is to notify observers.
  @exclusivity(unchecked) @usableFromInline private(set) var hasOnlyNotices = true

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
