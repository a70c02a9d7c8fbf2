import ConcordPersistence

/// A name that is the same in upper and in lower case.
struct Nick: PersistentValue, Equatable {
  var text: String

  static var storageClass: StorageClass { .text }
  var storedValue: StoredValue { .text(text) }
  var storedKey: StoredValue { text.lowercased().storedKey }
  init(_ text: String) { self.text = text }
  init(storedValue: StoredValue) throws { text = try String(storedValue: storedValue) }
  static func == (a: Nick, b: Nick) -> Bool { a.text.lowercased() == b.text.lowercased() }
}
