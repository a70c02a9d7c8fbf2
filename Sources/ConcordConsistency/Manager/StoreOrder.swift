/// Keeps a store and the others from parting when a push meets a write to the store.
///
/// All get pushes by their numbers, and what is written to the store is pushed as well. But a store that takes push 1 may
/// have been written to before, and the write be push 2: then the others end with the write, and the store with push 1.
/// This is noticed when the store tells of having taken push 1, after it has told of the write; its state is then pushed
/// once more. Not at once, but when nothing waits for the store any longer: two stores that push once more for each push
/// that they take could go on like this for long.
struct StoreOrder {
  /// The pushes that the store takes, or has taken without a change, with their numbers. They are kept because their
  /// addresses stand for them.
  private var taken: [(push: Push, number: Int)] = []
  /// The last pushes of what changed in the store, by what they brought.
  private var pushed: [ObjectKey: Int] = [:]
  /// The last push of which nothing is noted.
  private var forgotten = 0

  /// What is to be pushed once more.
  private var overtaken: [ObjectKey: any ConsistentObject] = [:]

  private static let takenLimit = 64
  private static let pushedLimit = 4096

  mutating func noteTaken(_ push: Push, number: Int) {
    // To forget one that the store has yet to tell of costs one more push, of what all have.
    if taken.count == Self.takenLimit { taken.removeFirst() }
    taken.append((push, number))
  }

  mutating func notePushed(_ keys: [ObjectKey], number: Int) {
    if pushed.count + keys.count > Self.pushedLimit {
      pushed.removeAll()
      forgotten = number
    }
    for key in keys.prefix(Self.pushedLimit) { pushed[key] = number }
  }

  /// Notes that the store tells of having taken a push, which changed these objects. `false` if it is none that is known.
  ///
  /// An object is overtaken if it has been pushed from here with a later number.
  mutating func noteTold(_ objects: [any ConsistentObject], of origin: ObjectIdentifier) -> Bool {
    guard let place = taken.firstIndex(where: { ObjectIdentifier($0.push) == origin }) else { return false }
    let number = taken[place].number
    // Those before it have changed nothing, or were told of: a store takes pushes in their order.
    taken.removeFirst(place + 1)
    for object in objects {
      let key = ObjectKey(object)
      if max(pushed[key] ?? 0, forgotten) > number { overtaken[key] = object }
    }
    return true
  }

  mutating func takeOvertaken() -> [any ConsistentObject] {
    defer { overtaken = [:] }
    return Array(overtaken.values)
  }
}
