/// An entity that is a part of an entity of another type, with which it shares fields.
///
/// ```swift
/// struct BookSummary: EntityProjection {
///   let id: String
///   var title: String
///   static var sharedFields: [SharedField<BookSummary, Book>] { [.init(\.title, \.title)] }
/// }
///
/// store.update(BookSummary.self, id: "emma") { $0.title = "Emma" }  // Book "emma" has that title, too
/// ```
///
/// Where both are stored under one id, the shared fields of both are equal at the end of each transaction: those of the
/// entity with the newer stamp count, or, of equal stamps, those written last. Neither retains the other, and each keeps its
/// own stamp. Removing one removes the other.
///
/// An entity that is written last in a transaction gives all of its shared fields, also those that this write did not change.
/// To change a shared field of one and an own field of the other in one transaction, write the shared field last.
///
/// Several projections of one type share fields as long as the store has an entity of that type.
public protocol EntityProjection: Identifiable, Sendable where ID == Whole.ID {
  /// The type of the whole entity.
  associatedtype Whole: Identifiable & Sendable
  /// The fields that the projection and the whole share.
  static var sharedFields: [SharedField<Self, Whole>] { get }
}

/// A field that a projection shares with the whole entity; see ``EntityProjection``.
public struct SharedField<Projection, Whole> {
  let give: (Projection, inout Whole) -> Void
  let take: (inout Projection, Whole) -> Void

  /// Creates a pair of properties that share their value.
  public init<Value>(_ own: WritableKeyPath<Projection, Value>, _ whole: WritableKeyPath<Whole, Value>) {
    give = { $1[keyPath: whole] = $0[keyPath: own] }
    take = { $0[keyPath: own] = $1[keyPath: whole] }
  }
}
