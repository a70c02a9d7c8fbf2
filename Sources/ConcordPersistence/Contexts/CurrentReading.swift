import Concord
import ConcordModel

/// Reads what is pending now, while more becomes pending.
final class CurrentReading: RowReading {
  private let current: () -> any RowReading

  init(_ current: @escaping () -> any RowReading) { self.current = current }

  func unannouncedKeys() throws -> Set<EntityKey> { try current().unannouncedKeys() }
  func storeError(_ error: any Error, of entity: EntityDescription) -> any Error {
    current().storeError(error, of: entity)
  }
  func row(of key: EntityKey) throws -> StoredRow? { try current().row(of: key) }
  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
    try current().withRow(of: key, body)
  }
  func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws {
    try current().rows(query, body)
  }
  func count(_ query: RowQuery) throws -> Int { try current().count(query) }
  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
    try current().referrers(to: key, in: entity)
  }
  func deletion(of key: EntityKey) throws -> Stamp? { try current().deletion(of: key) }
}
