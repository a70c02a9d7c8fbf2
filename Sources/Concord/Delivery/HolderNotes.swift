/// The places where observers were made that hold an entity, for an inspector. Used only while the store's lock is held.
///
/// Noting a place takes longer than finding an entity. So only some are noted, until the inspector allows more.
struct HolderNotes {
  private var notes: [ObjectIdentifier: Note] = [:]
  /// The number of notes at which those of observers that are gone are removed.
  private var limit = 64
  /// The number of observers that may still be noted.
  private var allowance = HolderNotes.most

  private struct Note {
    // Who reads the reference may be the last to release it. That is safe with the lock held: the release of a node never waits, and a
    // source of which a note is made has nothing else.
    weak var source: AnySource?
    let node: ObjectIdentifier
    let origin: CallOrigin
  }

  /// The number of observers that are noted without asking.
  private static var most: Int { 100 }

  var mayNoteMore: Bool { allowance > 0 }

  mutating func allowMore() { allowance = Self.most }

  mutating func note(_ source: AnySource, _ origin: CallOrigin) {
    allowance -= 1
    if notes.count >= limit {
      notes = notes.filter { $0.value.source != nil }
      limit = max(64, 2 * notes.count)
    }
    notes[ObjectIdentifier(source)] = Note(source: source, node: source.node.identity, origin: origin)
  }

  /// Returns the places of the observers that hold a node, but for those that only hold it for a subscription.
  ///
  /// - Complexity: O(*n*), for *n* notes.
  func origins(of node: Node, except subscribed: Set<ObjectIdentifier>) -> [CallOrigin] {
    let identity = ObjectIdentifier(node)
    return notes.compactMap { id, note in
      // Another node may be where one has been: only what still holds it counts.
      note.node == identity && !subscribed.contains(id) && note.source != nil ? note.origin : nil
    }
  }
}
