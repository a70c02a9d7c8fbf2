/// An index of queries by the value that they compare a property with, so that a change costs only the queries that it concerns.
final class EqualityIndex<T: Identifiable & Sendable> {
  private let key: (T) -> AnyHashable
  private var queries: [AnyHashable: [ObjectIdentifier: QueryHub<T>]] = [:]
  /// The property of each entity, by the number of the entity.
  private var keys: [UInt64: AnyHashable] = [:]

  init(_ key: @escaping (T) -> AnyHashable) { self.key = key }

  var isEmpty: Bool { queries.isEmpty }

  func add(_ query: QueryHub<T>, _ value: AnyHashable) { queries[value, default: [:]][ObjectIdentifier(query)] = query }

  func remove(_ query: QueryHub<T>, _ value: AnyHashable) {
    queries[value]?[ObjectIdentifier(query)] = nil
    if queries[value]?.isEmpty ?? false { queries[value] = nil }
  }

  /// Notes what became of an entity, and calls a closure with the queries that may have found it before, or find it now.
  func note(_ number: UInt64, became value: T?, _ body: (QueryHub<T>) -> Void) {
    let new = value.map(key)
    let old = keys[number]
    if old != new { keys[number] = new }
    old.flatMap { queries[$0] }?.values.forEach(body)
    if let new, new != old { queries[new]?.values.forEach(body) }
  }
}
