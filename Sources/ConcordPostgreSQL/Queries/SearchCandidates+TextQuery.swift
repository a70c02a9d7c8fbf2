#if PostgreSQL
  import ConcordPersistence

  extension SearchCandidates {
    /// The number of words of a phrase that are looked up.
    private static let most = 64

    /// The candidates as a `tsquery`. Vectors do not tell the order of words, so that a phrase stands for its words.
    var textQuery: String {
      switch self {
      case .term(let words, let isPrefix):
        let parts = words.prefix(Self.most).enumerated().map { position, word in
          Self.quoted(word.indexedWord) + (isPrefix && position == words.count - 1 ? ":*" : "")
        }
        return "(\(parts.joined(separator: " & ")))"
      case .all(let parts): return "(\(parts.map(\.textQuery).joined(separator: " & ")))"
      case .any(let parts): return "(\(parts.map(\.textQuery).joined(separator: " | ")))"
      }
    }

    private static func quoted(_ word: String) -> String {
      "'\(word.doubling(UInt8(ascii: "\\")).doubling(UInt8(ascii: "'")))'"
    }
  }
#endif
