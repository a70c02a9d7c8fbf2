extension FoldedText {
  /// Whether a term stands at a position.
  private func stands(_ term: SearchTerm, at position: Int) -> Bool {
    guard position + term.words.count <= words.count else { return false }
    let last = term.words.count - 1
    for (index, wanted) in term.words.enumerated() {
      let word = self[words[position + index]]
      let isLong = word.count > wanted.count && index == last && term.isPrefix
      guard isLong || word.count == wanted.count, word.prefix(wanted.count) == wanted[...] else { return false }
    }
    return true
  }

  func contains(_ term: SearchTerm) -> Bool { words.indices.contains { stands(term, at: $0) } }

  /// The places of a term: the positions of their first words.
  func places(of term: SearchTerm) -> [Int] { words.indices.filter { stands(term, at: $0) } }

  /// The sum of what each place of a term counts: 1, and for a word that goes on the part of it that was searched for.
  func sum(of term: SearchTerm) -> Double {
    var sum = 0.0
    let wanted = Double(term.words.last?.count ?? 0)
    for position in words.indices where stands(term, at: position) {
      let last = words[position + term.words.count - 1]
      sum += last.end > last.start ? wanted / Double(last.end - last.start) : 1
    }
    return sum
  }
}

extension SearchQuery {
  /// Whether texts are a hit. Words may stand in different ones; a phrase stands in one.
  func matches(_ texts: [FoldedText]) -> Bool {
    tree?.holds { term in texts.contains { $0.contains(term) } } ?? false
  }

  /// Whether texts are a hit.
  ///
  /// - Complexity: the length of the texts, times the number of words that are searched for.
  func matches(_ texts: [String?]) -> Bool { matches(texts.compactMap { $0.map { FoldedText($0) } }) }

  /// The rank of texts, each with what a word counts in it: a greater one comes first.
  ///
  /// It depends on these texts and the search alone, so that no other entity changes the order of two. A word that stands often counts more,
  /// though less each time, and less in a long text: the terms of BM25 (Robertson and Zaragoza, 2009) that need no statistics of other rows.
  ///
  /// - Complexity: as that of `matches`.
  func rank(_ texts: [(text: FoldedText, weight: Double)]) -> Double {
    let (saturation, usualLength) = (1.2, 100.0)
    var rank = 0.0
    for (text, weight) in texts {
      let length = 0.25 + 0.75 * Double(text.words.count) / usualLength
      for term in terms {
        let sum = text.sum(of: term)
        if sum > 0 { rank += weight * sum / (sum + saturation * length) }
      }
    }
    return rank
  }

  /// The rank of texts; `nil` if they are no hit.
  func rankIfHit(_ texts: [(text: FoldedText, weight: Double)]) -> Double? {
    let isHit = tree?.holds { term in texts.contains { $0.text.contains(term) } } ?? false
    return isHit ? rank(texts) : nil
  }
}
