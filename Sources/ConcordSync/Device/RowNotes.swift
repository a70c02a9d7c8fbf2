import ConcordConnect
import Foundation

/// The notes of the rows that the server sent, within a transaction. Each stands in the store of its row, so that one commit has both.
///
/// The position is in one of several stores, each of which commits by itself, may be put back from a copy, or begins empty, as one in memory. So each
/// transaction that changes rows in another store marks both stores: where the marks differ, the rows are not those of the position. Another device may
/// have its own position beside the same store, so the names there contain that of the device.
struct RowNotes {
  /// The session of the position.
  let writing: any RowWriting
  private let stores: (any OutboxesWriting)?
  private let device: String
  var areInSeveralStores: Bool { stores != nil }

  /// Reads the name of the device, which stands beside the position.
  init(_ writing: any RowWriting) throws {
    self.writing = writing
    stores = writing as? any OutboxesWriting
    device = try writing.note(SyncNotes.Head.device.name) ?? ""
  }

  func note(of key: EntityKey) throws -> String? {
    // Earlier releases have all notes beside the position.
    if let store = stores?.otherStore(of: key.entity), let note = try Self.note(name(of: key), in: store) {
      return note
    }
    return try writing.note(SyncNotes.row(key))
  }

  func set(_ note: String?, of key: EntityKey) throws {
    guard let store = stores?.otherStore(of: key.entity), try Self.set(note, for: name(of: key), in: store) else {
      return try writing.setNote(note, for: SyncNotes.row(key))
    }
    try writing.setNote(nil, for: SyncNotes.row(key))
  }

  /// The name of a row's note in another store.
  private func name(of key: EntityKey) -> NoteName { NoteName(SyncNotes.rows(of: device), key.noteName) }

  /// - Returns: `nil` also if the store keeps no notes.
  private static func note(_ name: NoteName, in store: any RowWriting) throws -> String? {
    do { return try store.note(name) } catch  where StoreError.isOfMissingNotes(error) { return nil }
  }

  /// - Returns: `false` if the store keeps no notes.
  private static func set(_ note: String?, for name: NoteName, in store: any RowWriting) throws -> Bool {
    do { try store.setNote(note, for: name) } catch  where StoreError.isOfMissingNotes(error) { return false }
    return true
  }

  /// Calls a closure with the keys of the rows that have notes, until it returns `false`.
  func forEach(in model: Model, _ body: (EntityKey) throws -> Bool) throws {
    var (isOver, seen) = (false, [writing])
    func notes(in space: String, of session: any RowWriting) throws {
      try session.notes(in: space, after: nil) { name, _ in
        if let key = EntityKey(noteName: name, in: model) { isOver = try !body(key) }
        return !isOver
      }
    }
    try notes(in: SyncNotes.rows, of: writing)
    for entity in model.entities {
      guard !isOver, let store = stores?.otherStore(of: entity), !seen.contains(where: { $0 === store }) else {
        continue
      }
      seen.append(store)
      do { try notes(in: SyncNotes.rows(of: device), of: store) } catch  where StoreError.isOfMissingNotes(error) {}
    }
  }

  // MARK: Marks

  /// The types whose rows are in another store than the position, and not those of the position.
  func torn(in model: Model) throws -> Set<EntityDescription> {
    guard let stores else { return [] }
    return Set(
      try model.entities.filter { entity in
        guard let store = stores.otherStore(of: entity) else { return false }
        return try Self.note(SyncNotes.mark(entity, of: device), in: store) != writing.note(SyncNotes.mark(entity))
      })
  }

  /// Whether types have their rows in another store than the position, and that was noted by a release that did not mark them, or while they had not.
  func isUnmarked(in model: Model) throws -> Bool {
    guard let stores, try writing.note(SyncNotes.Head.marks.name) == nil else { return false }
    return model.entities.contains { stores.otherStore(of: $0) != nil }
  }

  /// Marks the stores of types of which this transaction changes rows.
  func mark(_ entities: Set<EntityDescription>) throws {
    guard let stores else { return }
    let value = UUID().uuidString.lowercased()
    for entity in entities {
      if let store = stores.otherStore(of: entity),
        try Self.set(value, for: SyncNotes.mark(entity, of: device), in: store)
      {
        try writing.setNote(value, for: SyncNotes.mark(entity))
      }
    }
  }
}
