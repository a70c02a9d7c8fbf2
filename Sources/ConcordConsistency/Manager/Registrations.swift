/// All registrations, in the order in which they were made.
struct Registrations {
  private var byKey: [ObjectIdentifier: Registration] = [:]
  private var ordered: [Registration] = []
  /// The number of removed entries in `ordered`.
  private var gone = 0
  /// The number of registrations at which those of released environments are searched.
  private var limit = 64

  var all: [Registration] {
    gone == 0 ? ordered : ordered.filter { byKey[$0.key] === $0 }
  }

  /// The registration of the environment at an address, which may have been released.
  subscript(key: ObjectIdentifier) -> Registration? {
    byKey[key]
  }

  /// Adds a registration, and replaces one with the same key. Returns the registrations to check for released environments:
  /// all, but only when their number has doubled.
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
