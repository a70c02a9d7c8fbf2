/// All registrations, in the order in which they were made.
struct Registrations {
  private var byKey: [ObjectIdentifier: Registration] = [:]
  private var ordered: [Registration] = []
  /// How many of `ordered` are there no longer.
  private var gone = 0
  /// The number at which it is looked whether environments have gone that nobody pushes to.
  private var limit = 64

  var all: [Registration] {
    gone == 0 ? ordered : ordered.filter { byKey[$0.key] === $0 }
  }

  /// The registration of an environment at this address, perhaps of one that has gone.
  subscript(key: ObjectIdentifier) -> Registration? {
    byKey[key]
  }

  /// Adds a registration in place of one with the same key. Gives back those to look at, whether they have gone: all
  /// of them, but only when their number has doubled.
  mutating func insert(_ registration: Registration) -> [Registration] {
    if byKey.updateValue(registration, forKey: registration.key) != nil { gone += 1 }
    ordered.append(registration)
    tidy()
    guard byKey.count > limit else { return [] }
    limit = byKey.count * 2
    return ordered
  }

  mutating func remove(_ key: ObjectIdentifier) {
    byKey[key].map { remove($0) }
  }

  mutating func remove(_ registration: Registration) {
    guard byKey[registration.key] === registration else { return }
    byKey[registration.key] = nil
    gone += 1
    tidy()
  }

  private mutating func tidy() {
    guard gone > 32, gone > ordered.count / 2 else { return }
    ordered.removeAll { byKey[$0.key] !== $0 }
    gone = 0
    limit = max(64, byKey.count * 2)
  }
}
