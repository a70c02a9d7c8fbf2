/// A type that shows a part of an entity of another type: the two share what they share.
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
/// Where both are stored under one id, each transaction ends with the shared fields equal in both: the newer of the two by
/// their stamps counts, and of two with the same stamp the one written last. Neither keeps the other alive, and each keeps
/// its own stamp. To remove one removes the other.
///
/// Several projections of one type share through it: as long as the store has the whole.
public protocol EntityProjection: Identifiable, Sendable where ID == Whole.ID {
  /// What it shows a part of.
  associatedtype Whole: Identifiable & Sendable
  /// What both have.
  static var sharedFields: [SharedField<Self, Whole>] { get }
}

/// A field that a projection and the whole both have; see ``EntityProjection``.
public struct SharedField<Projection, Whole> {
  let give: (Projection, inout Whole) -> Void
  let take: (inout Projection, Whole) -> Void

  public init<Value>(_ own: WritableKeyPath<Projection, Value>, _ whole: WritableKeyPath<Whole, Value>) {
    give = { $1[keyPath: whole] = $0[keyPath: own] }
    take = { $0[keyPath: own] = $1[keyPath: whole] }
  }
}
