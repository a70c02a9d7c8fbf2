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
  /// Takes what changed.
  func update(_ keys: Set<EntityKey>, _ reading: any RowReading, _ loader: EntityLoader) throws
  /// Fetches, if it must, and shows the result.
  func finish(_ core: ContextCore, _ store: EntityStore) throws
}
