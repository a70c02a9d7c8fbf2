/// Makes a tree of the text of a search. Every text is one: what makes no sense is left out.
struct SearchParser {
  /// The number of terms of which further ones are left out.
  static let mostTerms = 64
  /// The depth of parentheses of which further ones are left out.
  private static let deepest = 16

  private enum Token {
    case term(SearchTerm)
    /// A word or a phrase in which there is no word. It takes the operator before it.
    case nothing
    case not, and, or, open, close
  }

  private var tokens: [Token] = []
  private var position = 0

  static func tree(of text: String) -> SearchTree? {
    var parser = SearchParser(text)
    // A parenthesis that closes nothing ends nothing.
    var parts: [SearchTree] = []
    while parser.position < parser.tokens.count {
      if let part = parser.disjunction() { parts.append(part) }
      parser.position += 1
    }
    return joined(parts, SearchTree.all)
  }

  private static func joined(_ parts: [SearchTree], _ join: ([SearchTree]) -> SearchTree) -> SearchTree? {
    parts.isEmpty ? nil : parts.count == 1 ? parts[0] : join(parts)
  }

  // MARK: Tokens

  private init(_ text: String) {
    var scalars = text.unicodeScalars[...]
    var (terms, depth) = (0, 0)
    // Parentheses that are too deep are left out with their counterparts.
    var ignored = 0
    var isAtStart = true
    func add(_ text: Substring.UnicodeScalarView, isPrefix: Bool, _ tokens: inout [Token]) {
      let folded = FoldedText(String(Substring(text)))
      guard !folded.words.isEmpty, terms < Self.mostTerms else { return tokens.append(.nothing) }
      terms += 1
      tokens.append(.term(SearchTerm(words: folded.words.map { Array(folded[$0]) }, isPrefix: isPrefix)))
    }
    while let first = scalars.first {
      switch first {
      case _ where first.properties.isWhitespace:
        scalars.removeFirst()
        isAtStart = true
        continue
      case "(":
        scalars.removeFirst()
        if depth == Self.deepest {
          ignored += 1
        } else {
          depth += 1
          tokens.append(.open)
        }
        isAtStart = true
        continue
      case ")":
        scalars.removeFirst()
        if ignored > 0 {
          ignored -= 1
        } else if depth > 0 {
          depth -= 1
          tokens.append(.close)
        }
      case _ where Self.isQuote(first):
        scalars.removeFirst()
        let phrase = scalars.prefix { !Self.isQuote($0) }
        scalars = scalars.dropFirst(phrase.count + 1)
        let isPrefix = scalars.first == "*"
        if isPrefix { scalars.removeFirst() }
        add(phrase, isPrefix: isPrefix || Self.endsWithStar(phrase), &tokens)
      case "-" where isAtStart:
        scalars.removeFirst()
        // A dash between words is none.
        if let next = scalars.first, !next.properties.isWhitespace { tokens.append(.not) }
        continue
      default:
        let word = scalars.prefix {
          !$0.properties.isWhitespace && $0 != "(" && $0 != ")" && !Self.isQuote($0)
        }
        scalars = scalars.dropFirst(word.count)
        switch String(Substring(word)) {
        case "AND": tokens.append(.and)
        case "OR": tokens.append(.or)
        case "NOT": tokens.append(.not)
        default: add(word, isPrefix: word.last == "*", &tokens)
        }
      }
      isAtStart = false
    }
  }

  /// Whether a star stands at the end of a phrase, at a word: behind a space it is none.
  private static func endsWithStar(_ phrase: Substring.UnicodeScalarView) -> Bool {
    phrase.last == "*" && phrase.last { $0 != "*" }.map { !$0.properties.isWhitespace } ?? false
  }

  private static func isQuote(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\"", "“", "”", "„": true
    default: false
    }
  }

  // MARK: The tree

  private var next: Token? { position < tokens.count ? tokens[position] : nil }

  /// Reads until a parenthesis closes, or to the end.
  private mutating func disjunction() -> SearchTree? {
    var parts: [SearchTree] = []
    while true {
      if let part = conjunction() { parts.append(part) }
      guard case .or? = next else { return Self.joined(parts, SearchTree.any) }
      position += 1
    }
  }

  private mutating func conjunction() -> SearchTree? {
    var parts: [SearchTree] = []
    var isNegated = false
    while let token = next {
      var part: SearchTree?
      switch token {
      case .or, .close: return Self.joined(parts, SearchTree.all)
      case .and, .nothing: position += 1
      case .not:
        position += 1
        isNegated.toggle()
        continue
      case .term(let term):
        position += 1
        part = .term(term)
      case .open:
        position += 1
        part = disjunction()
        // The one that closes, unless the text ends before.
        position += 1
      }
      if let part { parts.append(isNegated ? part.negated : part) }
      isNegated = false
    }
    return Self.joined(parts, SearchTree.all)
  }
}
