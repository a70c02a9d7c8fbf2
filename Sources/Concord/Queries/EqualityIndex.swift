/// An index of queries by the value that they compare a property with, so that a change costs only the queries that it concerns.
///
/// It knows values by their hashes alone, which takes little. Where two share one, a query is asked about an entity that it does not find.
final class EqualityIndex<T: Identifiable & Sendable> {
  private let hash: (T) -> Int
  private var queries: [Int: [ObjectIdentifier: QueryHub<T>]] = [:]
  /// The hash of each entity's property, by the number of the entity.
  private var hashes: [UInt64: Int] = [:]

  init(_ hash: @escaping (T) -> Int) { self.hash = hash }

  var isEmpty: Bool { queries.isEmpty }

  func add(_ query: QueryHub<T>, _ hash: Int) { queries[hash, default: [:]][ObjectIdentifier(query)] = query }

  func remove(_ query: QueryHub<T>, _ hash: Int) {
    queries[hash]?[ObjectIdentifier(query)] = nil
    if queries[hash]?.isEmpty ?? false { queries[hash] = nil }
  }

  /// Notes what became of an entity, and calls a closure with the queries that may have found it before, or find it now: whether they may find
  /// it now.
  func note(_ number: UInt64, became value: T?, _ body: (_ query: QueryHub<T>, _ mayFind: Bool) -> Void) {
    let new = value.map(hash)
    let old: Int? = new.map { hashes.updateValue($0, forKey: number) } ?? hashes.removeValue(forKey: number)
    if new == nil { hashes.shrink() }
    if let old, old != new { queries[old]?.values.forEach { body($0, false) } }
    if let new { queries[new]?.values.forEach { body($0, true) } }
  }
}
