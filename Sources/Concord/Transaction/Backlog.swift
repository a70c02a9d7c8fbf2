/// Whether anything is left to do before the next operation begins or the transaction ends: nodes to be examined, observers to
/// be told, states to be forgotten. Most writes leave nothing, and one look here says so.
@usableFromInline final class Backlog {
  @exclusivity(unchecked) @usableFromInline private(set) var isEmpty = true

  func add() { isEmpty = false }
  func clear() { isEmpty = true }
}
