/// A word or a phrase that is searched for: words that follow each other in one text.
struct SearchTerm: Sendable {
  /// The folded words; at least one.
  let words: [[UInt8]]
  /// Whether the last word may go on.
  let isPrefix: Bool
  /// The search for the words before the last one: these cannot go on.
  let beginning: PhraseSearch

  init(words: [[UInt8]], isPrefix: Bool) {
    (self.words, self.isPrefix) = (words, isPrefix)
    beginning = PhraseSearch(count: words.count - 1) { words[$0] == words[$1] }
  }
}

extension SearchTerm: Hashable {
  static func == (a: SearchTerm, b: SearchTerm) -> Bool { a.words == b.words && a.isPrefix == b.isPrefix }
  func hash(into hasher: inout Hasher) {
    hasher.combine(words)
    hasher.combine(isPrefix)
  }
}

/// The words and phrases of a search, and how they are combined.
indirect enum SearchTree: Sendable, Hashable {
  case term(SearchTerm)
  case not(SearchTree)
  case all([SearchTree])
  case any([SearchTree])
}

extension SearchTree {
  /// The negation.
  var negated: SearchTree { if case .not(let part) = self { part } else { .not(self) } }

  /// The terms that hits have, and not those that they must not have.
  var positiveTerms: [SearchTerm] {
    switch self {
    case .term(let term): [term]
    case .not: []
    case .all(let parts), .any(let parts): parts.flatMap(\.positiveTerms)
    }
  }

  /// Whether the search holds where some terms are found.
  func holds(_ isFound: (SearchTerm) -> Bool) -> Bool {
    switch self {
    case .term(let term): isFound(term)
    case .not(let part): !part.holds(isFound)
    case .all(let parts): parts.allSatisfy { $0.holds(isFound) }
    case .any(let parts): parts.contains { $0.holds(isFound) }
    }
  }
}

/// The rows that an index finds for a search: all hits, and maybe further ones.
package indirect enum SearchCandidates: Sendable, Hashable {
  /// Words that stand in one text, in this order if the index tells it. They are folded; the last one may go on.
  case term([String], isPrefix: Bool)
  case all([SearchCandidates])
  case any([SearchCandidates])
}

extension SearchTree {
  /// The candidates; `nil` if all rows are.
  ///
  /// An index need not tell what a row does not have: only what is searched for is looked up.
  var candidates: SearchCandidates? {
    switch self {
    case .term(let term):
      return .term(term.words.map { String(decoding: $0, as: UTF8.self) }, isPrefix: term.isPrefix)
    case .not: return nil
    case .all(let parts):
      let found = parts.compactMap(\.candidates)
      return found.count == 1 ? found[0] : found.isEmpty ? nil : .all(found)
    case .any(let parts):
      let found = parts.compactMap(\.candidates)
      return found.count < parts.count ? nil : found.count == 1 ? found[0] : .any(found)
    }
  }
}
