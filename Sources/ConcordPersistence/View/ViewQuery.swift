import Concord
import ConcordModel

/// A live query of a view, without its type.
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
  /// The set in which the query notes the entities that it knows, if it is indexed by them.
  var members: QueryMembers? { get set }
  /// Whether the query has to fetch.
  var mustFetch: Bool { get set }
  /// Whether the query is answered by one over the view, for which it keeps entities there.
  var isMerged: Bool { get }
  /// Sets the number of entities beyond the shown ones that are kept in the view.
  ///
  /// - Returns: whether the query has to fetch for that.
  func setMargin(_ margin: Int) -> Bool
  /// The number of entities that are shown, and of those that the query knows.
  var size: (shown: Int, known: Int) { get }
  /// The number of rows that were looked at so far: changed ones, and those that were fetched.
  var looks: Int { get }
  /// The error of the last fetch, as text.
  var failure: String? { get }
  /// Whether the query knows an entity, or may find it as it is now.
  func mayConcern(_ id: StoredValue, _ row: StoredRow?) -> Bool
  /// Applies changes, and reads the rows that it needs to show them.
  ///
  /// - Parameter layered: the entities that layers change, of the types that a query not about rows alone may contain.
  /// - Returns: the error of a row that refers to an entity that is not stored. The caller may try again.
  func update(
    _ ids: [StoredValue], _ rows: ChangedRows, _ layered: Set<EntityKey>, _ reading: any RowReading,
    _ loader: EntityLoader
  ) -> StoreError?
  /// Handles a failed reading.
  func fail(_ error: any Error)
  /// Shows the result, after the reading.
  func finish(_ store: EntityStore) throws
}
