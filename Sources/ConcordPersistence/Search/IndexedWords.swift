// An index has the beginning of a long word only, of which it finds more than it is asked for: each hit is checked.

extension FoldedText {
  /// The words for an index, with spaces between them.
  var indexedWords: String {
    var joined: [UInt8] = []
    joined.reserveCapacity(bytes.count + words.count)
    for word in words {
      if !joined.isEmpty { joined.append(UInt8(ascii: " ")) }
      joined += self[word].indexedWord
    }
    return String(decoding: joined, as: UTF8.self)
  }

  /// Creates the text of which an index has these words. Where it is in the source is not known.
  ///
  /// - Parameter indexed: what ``indexedWords`` gives.
  init(indexedWords indexed: UnsafeBufferPointer<UInt8>) {
    var (found, start) = ([Word](), 0)
    found.reserveCapacity(indexed.count / 8)
    for end in 0...indexed.count where end == indexed.count || indexed[end] == UInt8(ascii: " ") {
      if end > start { found.append(Word(start: start, end: end, sourceStart: start, sourceEnd: end)) }
      start = end + 1
    }
    self.init(bytes: Array(indexed), words: found)
  }

  /// Whether an index may have the beginning of one of these words only.
  var mayBeCut: Bool { words.contains { $0.end - $0.start > 96 } }

  /// The bytes of each of these words.
  package var indexedBytes: some Sequence<ArraySlice<UInt8>> { words.lazy.map { self[$0].indexedWord } }
}

extension ArraySlice<UInt8> {
  /// The beginning of a word that an index has: at most 100 bytes, in whole scalars, of which the longest has 4.
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
