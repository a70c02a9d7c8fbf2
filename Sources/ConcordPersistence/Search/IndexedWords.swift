// An index has the beginning of a long word only, of which it finds more than it is asked for: each hit is checked.

extension FoldedText {
  /// The words for an index, with spaces between them.
  var indexedWords: String { texts.map(\.indexedWord).joined(separator: " ") }

  /// The bytes of each of these words.
  package var indexedBytes: some Sequence<ArraySlice<UInt8>> { words.lazy.map { self[$0].indexedWord } }
}

extension ArraySlice<UInt8> {
  /// The beginning of a word that an index has: at most 100 bytes, in whole scalars.
  fileprivate var indexedWord: ArraySlice<UInt8> {
    let most = 100
    if count <= most { return self }
    var end = startIndex + most
    while end > startIndex, self[end] & 0xC0 == 0x80 { end -= 1 }
    return self[..<end]
  }
}

extension String {
  /// The beginning of a word that an index has.
  package var indexedWord: String { String(decoding: Array(utf8)[...].indexedWord, as: UTF8.self) }
}
