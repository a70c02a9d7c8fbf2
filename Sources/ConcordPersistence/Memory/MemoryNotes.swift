/// The notes of a memory store.
struct MemoryNotes {
  private var spaces: [String: [String: String]] = [:]

  subscript(name: NoteName) -> String? {
    get { spaces[name.space]?[name.name] }
    set {
      spaces[name.space, default: [:]][name.name] = newValue
      if spaces[name.space]?.isEmpty == true { spaces[name.space] = nil }
    }
  }

  /// - Complexity: O(*n* log *n*), where *n* is the number of notes in the space.
  func notes(in space: String, after name: String?) -> [(key: String, value: String)] {
    func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
    return (spaces[space] ?? [:]).filter { note in name.map { precedes($0, note.key) } ?? true }
      .sorted { precedes($0.key, $1.key) }
  }

  func names(in space: String) -> [NoteName] { (spaces[space] ?? [:]).keys.map { NoteName(space, $0) } }
}
