/// Keeps a store and the others from parting when a push meets a write to the store.
///
/// All get pushes by their numbers, and what is written to the store is pushed as well. But a store that takes push 1 may
/// have been written to before, and the write be push 2: then the others end with the write, and the store with push 1.
/// This is noticed when the store tells of having taken push 1, after it has told of the write; its state is then pushed
/// once more; unless the store has a newer one, of which it tells later. Two stores that push once more for each push that
/// they take would go on like this for long.
struct StoreOrder {
  /// Stands for a push that the store takes, when the store tells of that.
  final class Mark: Sendable {}

  /// The pushes that the store takes, or has taken without a change. The marks are kept because their addresses count.
  private var taken: [(mark: Mark, number: Int)] = []
  /// The last pushes of what changed in the store, by what they brought.
  private var pushed: [ObjectKey: Int] = [:]
  /// The last push of which nothing is noted.
  private var forgotten = 0

  private static let takenLimit = 16_384
  private static let pushedLimit = 4096

  mutating func noteTaken(_ number: Int) -> Mark {
    // To forget one that the store has yet to tell of costs one more push, of what all have.
    if taken.count == Self.takenLimit { taken.removeFirst(Self.takenLimit / 2) }
    let mark = Mark()
    taken.append((mark, number))
    return mark
  }

  mutating func notePushed(_ keys: [ObjectKey], number: Int) {
    if pushed.count + keys.count > Self.pushedLimit {
      pushed.removeAll()
      forgotten = number
    }
    for key in keys.prefix(Self.pushedLimit) { pushed[key] = number }
  }

  /// Which objects have been pushed from here with a later number than the push that the store tells of having taken;
  /// `nil` if it is none of those that are known.
  mutating func overtaken(by origin: ObjectIdentifier) -> ((any ConsistentObject) -> Bool)? {
    guard let place = taken.firstIndex(where: { ObjectIdentifier($0.mark) == origin }) else { return nil }
    let number = taken[place].number
    // Those before it have changed nothing, or were told of: a store takes pushes in their order.
    taken.removeFirst(place + 1)
    let (pushed, forgotten) = (pushed, forgotten)
    return { max(pushed[ObjectKey($0)] ?? 0, forgotten) > number }
  }
}
