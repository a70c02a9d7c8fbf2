import Concord
import ConcordModel

/// A live query of a view, whatever its type.
protocol ViewQuery: AnyObject {
  var number: Int { get }
  /// The type of the entities that it finds.
  var entity: EntityDescription { get }
  /// The types whose entities may change the result.
  var contained: Set<EntityDescription> { get }
  /// Whether the result depends on nothing but the rows of the type.
  var isFlat: Bool { get }
  /// The values that a row has that the query finds; `nil` if they can be many.
  var equalities: [Equality]? { get }
  /// Where to note which entities the query knows, if somebody wants to know.
  var members: QueryMembers? { get set }
  /// Whether what is known of the result is not enough.
  var mustFetch: Bool { get set }
  /// Whether the query knows an entity, or may find it as it is now.
  func mayConcern(_ id: StoredValue, _ row: StoredRow?) -> Bool
  /// Takes what changed, and reads what it needs to show it.
  ///
  /// - Returns: why that could not be read, if a row refers to what is not stored. It may be tried again.
  func update(_ ids: [StoredValue], _ rows: ChangedRows, _ reading: any RowReading, _ loader: EntityLoader)
    -> StoreError?
  /// Is told that nothing could be read.
  func fail(_ error: any Error)
  /// Shows the result, after the reading.
  func finish(_ store: EntityStore) throws
}
