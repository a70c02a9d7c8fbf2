/// The order of pushes and of a store's own writes, with which store and owners end in the same state when both happen at once.
///
/// All receive pushes by their numbers, and writes to the store are pushed as well. But before a store applies push 1 it may be
/// written to, and the write be push 2: then the owners end with the write, and the store with push 1. This is noticed when
/// the store reports push 1 as applied after it has reported the write. Its state is then pushed once more, unless the store
/// has a newer one, which it reports later. If two stores pushed once more for each applied push, they would continue for long.
struct StoreOrder {
  /// The origin of a push that the store applies, by which its change set is recognised.
  final class Mark: Sendable {}

  /// The pushes that the store applies, or has applied without a change. The marks are retained because their addresses count.
  private var taken: [(mark: Mark, number: Int)] = []
  /// The numbers of the last pushes of the store's changes, by their objects.
  private var pushed: [ObjectKey: Int] = [:]
  /// The number of the last push that is not noted any longer.
  private var forgotten = 0

  private static let takenLimit = 16_384
  private static let pushedLimit = 4096

  mutating func noteTaken(_ number: Int) -> Mark {
    // Discarding one that the store has yet to report costs one redundant push.
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

  /// Returns a test for objects that were pushed from here with a later number than an applied push; `nil` if that push is
  /// not known.
  mutating func overtaken(by origin: ObjectIdentifier) -> ((any ConsistentObject) -> Bool)? {
    guard let place = taken.firstIndex(where: { ObjectIdentifier($0.mark) == origin }) else { return nil }
    let number = taken[place].number
    // Earlier ones have changed nothing, or were reported: a store applies pushes in their order.
    taken.removeFirst(place + 1)
    let (pushed, forgotten) = (pushed, forgotten)
    return { max(pushed[ObjectKey($0)] ?? 0, forgotten) > number }
  }
}
