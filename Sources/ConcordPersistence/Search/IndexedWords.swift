// An index has the beginning of a long word only, of which it finds more than it is asked for: each hit is checked.

extension FoldedText {
  /// The words for an index, with spaces between them.
  var indexedWords: String { texts.map(\.indexedWord).joined(separator: " ") }
}

extension String {
  /// The beginning of a word that an index has: at most 100 bytes, in whole scalars.
  var indexedWord: String {
    let most = 100
    guard utf8.count > most else { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: most)
    while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
