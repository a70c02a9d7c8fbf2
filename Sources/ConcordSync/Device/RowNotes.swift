import ConcordConnect
import Foundation

/// The notes of the rows that the server sent, within a transaction. Each stands in the store of its row, so that one commit has both.
///
/// The position is in one of several stores. Another one commits by itself, may be put back from a copy, begin empty, as one in memory, be detached for a
/// time, or be written by another device, which has its own position beside it. So a transaction that changes rows of a type in another store draws a new
/// mark for the type, which stands in that store and beside the position: where the two differ, the rows are not those of the position. The notes in a store
/// are those of its rows, whichever device has brought them.
struct RowNotes {
  /// The session of the position.
  let writing: any RowWriting
  let model: Model
  private let stores: (any OutboxesWriting)?

  init(_ writing: any RowWriting, _ model: Model) {
    (self.writing, self.model) = (writing, model)
    stores = writing as? any OutboxesWriting
  }

  /// The session of the store that keeps the rows of a type, which is that of the position where this keeps them; `nil` if there is none.
  private func store(of entity: EntityDescription) -> (any RowWriting)? {
    guard let stores else { return writing }
    return stores.otherStore(of: entity) ?? (stores.isKept(entity) ? writing : nil)
  }

  /// Whether the store that keeps the rows of a type is attached.
  func hasStore(of entity: EntityDescription) -> Bool { store(of: entity) != nil }

  /// The sessions of the other stores than that of the position.
  private var otherStores: [any RowWriting] {
    model.entities.reduce(into: []) { found, entity in
      guard let store = stores?.otherStore(of: entity), !found.contains(where: { $0 === store }) else { return }
      found.append(store)
    }
  }

  func note(of key: EntityKey) throws -> String? {
    // Earlier releases have all notes beside the position.
    if let store = stores?.otherStore(of: key.entity), let note = try Self.note(SyncNotes.row(key), in: store) {
      return note
    }
    return try writing.note(SyncNotes.row(key))
  }

  func set(_ note: String?, of key: EntityKey) throws {
    guard let store = stores?.otherStore(of: key.entity), try Self.set(note, for: SyncNotes.row(key), in: store) else {
      return try writing.setNote(note, for: SyncNotes.row(key))
    }
    try writing.setNote(nil, for: SyncNotes.row(key))
  }

  /// - Returns: `nil` also if the store keeps no notes.
  private static func note(_ name: NoteName, in store: any RowWriting) throws -> String? {
    do { return try store.note(name) } catch  where StoreError.isOfMissingNotes(error) { return nil }
  }

  /// - Returns: `false` if the store keeps no notes.
  private static func set(_ note: String?, for name: NoteName, in store: any RowWriting) throws -> Bool {
    do { try store.setNote(note, for: name) } catch  where StoreError.isOfMissingNotes(error) { return false }
    return true
  }

  /// - Returns: none also if the store keeps none.
  private static func notes(in space: String, of store: any RowWriting) throws -> [(name: String, note: String)] {
    var found: [(name: String, note: String)] = []
    do {
      try store.notes(in: space, after: nil) { name, note in
        found.append((name, note))
        return true
      }
    } catch  where StoreError.isOfMissingNotes(error) {}
    return found
  }

  /// Calls a closure with the keys of the rows that have notes, and whose store is attached, until it returns `false`.
  func forEach(_ body: (EntityKey) throws -> Bool) throws {
    var isOver = false
    func notes(of session: any RowWriting, where isMeant: (EntityDescription) -> Bool) throws {
      if isOver { return }
      try session.notes(in: SyncNotes.rows, after: nil) { name, _ in
        if let key = EntityKey(noteName: name, in: model), isMeant(key.entity) { isOver = try !body(key) }
        return !isOver
      }
    }
    try notes(of: writing) { store(of: $0) != nil }
    for other in otherStores {
      // It may be the one with the position of another device, which has notes of rows in further stores there.
      do { try notes(of: other) { store(of: $0) === other } } catch  where StoreError.isOfMissingNotes(error) {}
    }
  }

  /// Carries the notes over that do not stand in the stores of their rows as those of these: an earlier release has noted them beside the position, or in
  /// other stores under the name of the device, or the rows have moved.
  func carryOver(of device: String) throws {
    guard stores != nil else { return }
    for (name, _) in try Self.notes(in: SyncNotes.rows, of: writing) {
      guard let key = EntityKey(noteName: name, in: model), stores?.otherStore(of: key.entity) != nil else { continue }
      try set(note(of: key), of: key)
    }
    for store in otherStores {
      let space = "\(SyncNotes.rows) \(device)"
      let found = try Self.notes(in: space, of: store)
      for (name, note) in found {
        let name = NoteName(SyncNotes.rows, name)
        // To this device a row was the app's own that another one had brought.
        if try note.isEmpty || store.note(name) == nil { try store.setNote(note, for: name) }
      }
      if !found.isEmpty { try store.clearNotes(in: space) }
    }
  }

  // MARK: Marks

  /// The types whose rows in the attached stores are not those of the position.
  func torn() throws -> Set<EntityDescription> { try torn(Self.marks(in: SyncNotes.marks, of: writing)) }

  /// - Returns: the marks by the names of the types.
  private static func marks(in space: String, of store: any RowWriting) throws -> [String: String] {
    Dictionary(try notes(in: space, of: store)) { $1 }
  }

  /// - Parameter marks: those beside the position.
  private func torn(_ marks: [String: String]) throws -> Set<EntityDescription> {
    var held: [ObjectIdentifier: [String: String]] = [:]
    return Set(
      try model.entities.filter { entity in
        guard let store = store(of: entity) else { return false }
        let found = try held[ObjectIdentifier(store)] ?? Self.marks(in: NoteName.rowsMarks, of: store)
        held[ObjectIdentifier(store)] = found
        return found[entity.name] != marks[entity.name]
      })
  }

  /// Whether types have their rows in another store than the position, and that was noted by a release that did not mark them.
  func isUnmarked() throws -> Bool {
    guard let stores, try writing.note(SyncNotes.Head.marks.name) == nil else { return false }
    return model.entities.contains { stores.otherStore(of: $0) != nil }
  }

  /// Marks the stores of types of which this transaction changes rows, and the types whose store is not attached: they are not of the position any longer.
  ///
  /// - Parameters:
  ///   - entities: the types.
  ///   - whole: those whose rows were not those of the position, and are now. Other types whose rows are not stay so, and what another device had there is no longer its own.
  func mark(_ entities: Set<EntityDescription>, whole: Set<EntityDescription> = []) throws {
    let marks = try Self.marks(in: SyncNotes.marks, of: writing)
    let torn = try torn(marks)
    for entity in model.entities
    where store(of: entity) == nil && marks[entity.name] ?? SyncNotes.detached != SyncNotes.detached {
      try writing.setNote(SyncNotes.detached, for: SyncNotes.mark(entity))
    }
    for entity in entities.union(whole) {
      // The store with the position cannot be apart from it. A mark that is there tells other devices that write to it.
      guard let store = store(of: entity), store !== writing || torn.contains(entity) || marks[entity.name] == nil
      else {
        continue
      }
      let value = UUID().uuidString.lowercased()
      let isMarked = try Self.set(value, for: SyncNotes.held(entity), in: store)
      if torn.contains(entity), !whole.contains(entity) { continue }
      try writing.setNote(isMarked ? value : nil, for: SyncNotes.mark(entity))
    }
  }
}
