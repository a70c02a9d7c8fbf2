import Foundation

@testable import ConcordPersistence

/// A search, with its meaning told in another way than the package's: whole texts are folded by what the system has, words are texts.
indirect enum NaiveSearch {
  case words([String], isPrefix: Bool, isQuoted: Bool)
  case not(NaiveSearch)
  case all([NaiveSearch])
  case any([NaiveSearch])

  static func words(of text: String) -> [String] {
    var folded = text.decomposedStringWithCompatibilityMapping
    for _ in 0..<2 {
      folded = String(String.UnicodeScalarView(folded.unicodeScalars.filter { !isAccent($0) }))
      folded = folded.uppercased().lowercased().decomposedStringWithCompatibilityMapping
    }
    var words = [""]
    var isAlone = false
    for scalar in folded.unicodeScalars where !isAccent(scalar) {
      let category = scalar.properties.generalCategory
      let isMark = category == .nonspacingMark || category == .spacingMark
      let isLetter = scalar.properties.isAlphabetic || scalar.properties.numericType != nil || isMark
      guard isLetter else {
        words.append("")
        isAlone = false
        continue
      }
      let isIdeograph = scalar.properties.isIdeographic || (0x3041...0x30FF).contains(scalar.value) && !isMark
      if isIdeograph || isAlone && !isMark { words.append("") }
      words[words.count - 1].unicodeScalars.append(scalar)
      if !isMark { isAlone = isIdeograph }
    }
    return words.filter { !$0.isEmpty }
  }

  private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    let order = properties.canonicalCombiningClass.rawValue
    return properties.isDefaultIgnorableCodePoint || properties.generalCategory == .enclosingMark
      || properties.generalCategory == .nonspacingMark && (order == 1 || order >= 200 || order >= 10 && order <= 36)
  }

  /// `nil` where there is no word, as if it were not written.
  func holds(_ texts: [String?]) -> Bool? {
    switch self {
    case .words(let words, let isPrefix, _):
      let wanted = words.flatMap(Self.words)
      if wanted.isEmpty { return nil }
      return texts.contains { text in
        let words = Self.words(of: text ?? "")
        return words.indices.contains { start in
          let found = words[start...].prefix(wanted.count)
          guard found.count == wanted.count else { return false }
          return zip(found, wanted).enumerated().allSatisfy { index, pair in
            index == wanted.count - 1 && isPrefix
              ? Array(pair.0.unicodeScalars).starts(with: Array(pair.1.unicodeScalars)) : pair.0 == pair.1
          }
        }
      }
    case .not(let part): return part.holds(texts).map { !$0 }
    case .all(let parts):
      let found = parts.compactMap { $0.holds(texts) }
      return found.isEmpty ? nil : found.allSatisfy { $0 }
    case .any(let parts):
      let found = parts.compactMap { $0.holds(texts) }
      return found.isEmpty ? nil : found.contains(true)
    }
  }

  /// The search as a person writes it.
  func text(_ random: inout SeededGenerator) -> String {
    switch self {
    case .words(let words, let isPrefix, let isQuoted):
      let text = words.joined(separator: isQuoted ? [" ", "  ", ", "].randomElement(using: &random) ?? " " : "-")
      let star = isPrefix ? "*" : ""
      if !isQuoted { return text + star }
      // Behind a space, which an empty word leaves at the end, it stands alone.
      let isInside = words.last != "" && Bool.random(using: &random)
      return isInside ? "\"\(text)\(star)\"" : "\"\(text)\"\(star)"
    case .not(let part):
      return Bool.random(using: &random) ? "-\(part.text(&random))" : "NOT \(part.text(&random))"
    case .all(let parts):
      var text = "("
      for (index, part) in parts.enumerated() {
        if index > 0 { text += Bool.random(using: &random) ? " AND " : " " }
        text += part.text(&random)
      }
      return text + ")"
    case .any(let parts):
      var text = "("
      for (index, part) in parts.enumerated() {
        text += index > 0 ? " OR " : ""
        text += part.text(&random)
      }
      return text + ")"
    }
  }

  static func random(_ depth: Int, _ random: inout SeededGenerator) -> NaiveSearch {
    if depth > 0, Int.random(in: 0..<3, using: &random) > 0 {
      let parts = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.random(depth - 1, &random) }
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return .any(parts)
      case 1: return .not(parts[0])
      default: return .all(parts)
      }
    }
    let isQuoted = Bool.random(using: &random)
    let count = isQuoted ? Int.random(in: 0...2, using: &random) : 1
    return .words(
      (0..<count).map { _ in SearchWords.word(&random) }, isPrefix: Int.random(in: 0..<3, using: &random) == 0,
      isQuoted: isQuoted)
  }
}

/// Words whose folding is not that of a simple table.
enum SearchWords {
  static let all = [
    "red", "RED", "pony", "Pearl", "pearls", "steinbeck", "a", "x1", "42", "\u{E9}mile", "E\u{301}mile", "emile",
    "\u{212A}elvin", "kelvin", "Stra\u{DF}e", "STRASSE", "stra\u{1E9E}e", "\u{FB01}sch", "fisch", "\u{130}stanbul",
    "istanbul",
    "\u{131}stanbul", "\u{3A3}\u{399}\u{393}\u{39C}\u{391}\u{3A3}", "\u{3C3}\u{3B9}\u{3B3}\u{3BC}\u{3B1}\u{3C2}",
    "\u{1F600}",
    "\u{1F468}\u{200D}\u{1F469}", "", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}",
    "\u{5E9}\u{5B8}\u{5C1}\u{5DC}\u{5D5}\u{5B9}\u{5DD}",
    "\u{D55C}\u{AE00}", "\u{1112}\u{1161}\u{11AB}", "\u{D558}", "\u{691C}\u{7D22}", "\u{691C}", "\u{304C}",
    "\u{304B}\u{3099}", "\u{304B}",
    "\u{939}\u{93F}\u{928}\u{94D}\u{926}\u{940}", "\u{939}\u{928}", "\u{BD}", "\u{0}", "nul\u{0}l",
    "na\u{EF}ve\u{AD}ly", "\u{1F1}",
    "\u{1E69}", "s\u{307}\u{323}", "o\u{30B}", "\u{FF26}\u{FF35}\u{FF2C}\u{FF2C}", "full", "\u{663}\u{664}",
    "\u{915}\u{94D}\u{93C}", "\u{915}\u{93C}\u{94D}", "OR", "and", "\u{2460}", "'", "%", "\u{FFFD}",
  ]

  static func word(_ random: inout SeededGenerator) -> String {
    let word = all.randomElement(using: &random) ?? ""
    // An operator, where it stands alone.
    return word == "OR" ? "or" : word
  }

  static func text(_ random: inout SeededGenerator) -> String {
    let separators = [" ", " ", " ", "-", ". ", "\u{0}", "\u{301}", "", "\n", "\u{202E}", "\u{200D}", "(", "\"", "*"]
    return (0..<Int.random(in: 0...6, using: &random)).map { _ in
      (all.randomElement(using: &random) ?? "") + (separators.randomElement(using: &random) ?? "")
    }.joined()
  }
}
