package import ConcordModel

/// The name of a note, a text that a store keeps beside the rows of entities and writes in the same transactions.
///
/// Synchronisation notes in them how far it has come.
public struct NoteName: Hashable, Sendable {
  /// The set of notes that the note belongs to.
  public var space: String
  /// The name of the note in its space.
  public var name: String

  /// Creates a name.
  public init(_ space: String, _ name: String) { (self.space, self.name) = (space, name) }
}

extension NoteName {
  /// The space of the marks of the rows of types, by the names of the entities.
  ///
  /// Synchronisation draws them, and compares them with those that it has noted elsewhere: whoever moves rows into a store or out of it draws new ones.
  package static let rowsMarks = "rows.marks"
  package static func rowsMark(_ entity: EntityDescription) -> NoteName { NoteName(rowsMarks, entity.name) }
}

extension StoreError {
  package static func withoutNotes(_ type: Any.Type) -> StoreError {
    .storeFailed(store: "\(type)", reason: noNotes)
  }
  private static let noNotes = "it keeps no notes"

  /// Whether an error says that a store keeps no notes.
  package static func isOfMissingNotes(_ error: any Error) -> Bool {
    if case StoreError.storeFailed(_, noNotes) = error { true } else { false }
  }

  package static func withoutFeed(_ store: String) -> StoreError {
    .storeFailed(store: store, reason: "it keeps no feed of changes; startFeed() begins one")
  }
}
