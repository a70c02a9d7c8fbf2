/// A search for words, as a person writes it.
///
/// ```swift
/// let query: SearchQuery = #"steinb* "red pony" -pearl"#
/// ```
///
/// | text | finds |
/// |---|---|
/// | `red pony` | both words, anywhere in the searchable texts of an entity |
/// | `"red pony"`, `red-pony` | the words one after the other, in one text |
/// | `steinb*`, `"red po*"`, `"red po"*` | words that begin so |
/// | `pony OR pearl` | one of the two, or both |
/// | `pony -pearl`, `pony NOT pearl` | the one without the other |
/// | `(pony OR pearl) AND red` | what the parentheses say |
///
/// A *word* is a run of letters and digits. Case and accents make no difference, nor do the forms in which Unicode can write the same: `ÉMILE`
/// is `emile`, `ﬁ` is `fi`, `ß` is `ss`. A character of a script without spaces between words, as Chinese or Japanese, is a word of its own, and
/// such characters in a row are a phrase. `AND`, `OR` and `NOT` are operators in upper case only; `OR` binds less than the rest.
///
/// Every text is a search: quotes and parentheses that are not closed end with the text, an operator without an operand is left out, and so is
/// what stands behind the 64th word or phrase. A search without any word finds nothing; one that only excludes, as `-pearl`, finds the rest.
public struct SearchQuery: Sendable {
  /// The search as it was written.
  public let text: String
  /// The words that are searched for; `nil` if there is none.
  let tree: SearchTree?
  /// The terms that hits have, each once.
  let terms: [SearchTerm]

  /// Creates a search.
  ///
  /// - Complexity: the length of the text.
  public init(_ text: String) {
    self.text = text
    tree = SearchParser.tree(of: text)
    var seen: Set<SearchTerm> = []
    terms = (tree?.positiveTerms ?? []).filter { seen.insert($0).inserted }
  }

  /// Whether the search has no word, and so finds nothing.
  public var isEmpty: Bool { tree == nil }

  /// The candidates that an index finds; `nil` if all rows are candidates.
  package var candidates: SearchCandidates? { tree?.candidates }
}

extension SearchQuery: Hashable {
  public static func == (a: SearchQuery, b: SearchQuery) -> Bool { a.tree == b.tree && a.terms == b.terms }
  public func hash(into hasher: inout Hasher) { hasher.combine(tree) }
}

extension SearchQuery: CustomStringConvertible {
  public var description: String { text }
}

extension SearchQuery: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}

extension SearchQuery: Codable {
  public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
