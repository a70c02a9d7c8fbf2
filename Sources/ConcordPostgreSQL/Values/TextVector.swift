#if PostgreSQL
  import ConcordPersistence

  /// The words of an entity's searchable texts as the server keeps them, a `tsvector`: each word once, without positions, of which a vector
  /// takes few.
  enum TextVector {
    /// The words of a vector as the server writes it, or as it reads it.
    static func words(_ vector: String?) -> Set<Substring> { Set((vector ?? "").split(separator: " ")) }

    /// The number of bytes of words that a vector may have: the server takes 1 MB.
    static let most = 1_000_000

    /// Returns a vector as the server reads it; `nil` if the words are too many for one.
    static func literal(_ texts: some Sequence<String?>) -> String? {
      let texts = texts.compactMap { $0.map { FoldedText($0) } }
      var words: Set<ArraySlice<UInt8>> = []
      for text in texts { words.formUnion(text.indexedBytes) }
      if words.reduce(0, { $0 + $1.count }) > most { return nil }
      var bytes: [UInt8] = []
      for word in words {
        // Folded words have neither quotation marks nor backslashes.
        bytes.append(UInt8(ascii: "'"))
        bytes.append(contentsOf: word)
        bytes.append(UInt8(ascii: "'"))
        bytes.append(UInt8(ascii: " "))
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
