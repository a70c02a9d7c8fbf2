import Concord
import ConcordModel

/// A live query of a view, whatever its type.
protocol ViewQuery: AnyObject {
  /// The types whose entities may change the result.
  var contained: Set<EntityDescription> { get }
  /// Whether what is known of the result is not enough.
  var mustFetch: Bool { get set }
  /// Whether somebody observes it.
  func isObserved(in store: EntityStore) -> Bool
  /// Whether changes of these may change the result.
  func concerns(_ keys: Set<EntityKey>) -> Bool
  /// Takes what changed, and reads what it needs to show it.
  ///
  /// - Returns: why that could not be read, if a row refers to what is not stored. It may be tried again.
  func update(_ keys: Set<EntityKey>, _ reading: any RowReading, _ loader: EntityLoader) -> StoreError?
  /// Is told that nothing could be read.
  func fail(_ error: any Error)
  /// Shows the result, after the reading.
  func finish(_ store: EntityStore) throws
}
