import ConcordConnect
import Foundation

/// The notes of the rows that the server sent, within a transaction. Each stands in the store of its row, so that one commit has both.
///
/// The position is in one of several stores, each of which commits by itself, may be put back from a copy, or begins empty, as one in memory. So each
/// transaction that changes rows in another store marks both stores: where the marks differ, the rows are not those of the position.
struct RowNotes {
  /// The session of the position.
  let writing: any RowWriting
  private let stores: (any OutboxesWriting)?

  init(_ writing: any RowWriting) {
    self.writing = writing
    stores = writing as? any OutboxesWriting
  }

  func note(of key: EntityKey) throws -> String? {
    let name = SyncNotes.row(key)
    guard let store = stores?.otherStore(of: key.entity) else { return try writing.note(name) }
    // Earlier releases have all notes beside the position.
    return try store.note(name) ?? writing.note(name)
  }

  func set(_ note: String?, of key: EntityKey) throws {
    let name = SyncNotes.row(key)
    guard let store = stores?.otherStore(of: key.entity), try Self.set(note, for: name, in: store) else {
      return try writing.setNote(note, for: name)
    }
    try writing.setNote(nil, for: name)
  }

  /// - Returns: `false` if the store keeps no notes.
  private static func set(_ note: String?, for name: NoteName, in store: any RowWriting) throws -> Bool {
    do { try store.setNote(note, for: name) } catch  where StoreError.isOfMissingNotes(error) { return false }
    return true
  }

  /// Calls a closure with the keys of the rows that have notes, until it returns `false`.
  func forEach(in model: Model, _ body: (EntityKey) throws -> Bool) throws {
    var (isOver, seen) = (false, [writing])
    func notes(of session: any RowWriting) throws {
      try session.notes(in: SyncNotes.rows, after: nil) { name, _ in
        if let key = EntityKey(noteName: name, in: model) { isOver = try !body(key) }
        return !isOver
      }
    }
    try notes(of: writing)
    for entity in model.entities {
      guard !isOver, let store = stores?.otherStore(of: entity), !seen.contains(where: { $0 === store }) else {
        continue
      }
      seen.append(store)
      try notes(of: store)
    }
  }

  // MARK: Marks

  /// The types whose rows are in another store than the position, and not those of the position.
  func torn(in model: Model) throws -> Set<EntityDescription> {
    guard let stores else { return [] }
    return Set(
      try model.entities.filter { entity in
        let mark = SyncNotes.mark(entity)
        return try stores.otherStore(of: entity).map { try $0.note(mark) != writing.note(mark) } ?? false
      })
  }

  /// Marks the stores of types of which this transaction changes rows.
  func mark(_ entities: Set<EntityDescription>) throws {
    guard let stores else { return }
    let value = UUID().uuidString.lowercased()
    for entity in entities {
      let mark = SyncNotes.mark(entity)
      if let store = stores.otherStore(of: entity), try Self.set(value, for: mark, in: store) {
        try writing.setNote(value, for: mark)
      }
    }
  }
}
