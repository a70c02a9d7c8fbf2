/// The places of a term in a text: the positions of their first words.
struct TermPlaces {
  let first: [Int]
  /// The sum of what each place counts: 1, and for a word that goes on the part of it that was searched for.
  let sum: Double
}

extension FoldedText {
  /// Whether a term stands at a position.
  private func stands(_ term: SearchTerm, at position: Int) -> Bool {
    guard position + term.words.count <= words.count else { return false }
    let last = term.words.count - 1
    for (index, wanted) in term.words.enumerated() {
      let word = self[words[position + index]]
      let isFound = index == last && term.isPrefix ? word.starts(with: wanted) : word.elementsEqual(wanted)
      if !isFound { return false }
    }
    return true
  }

  func contains(_ term: SearchTerm) -> Bool { words.indices.contains { stands(term, at: $0) } }

  func places(of term: SearchTerm) -> TermPlaces {
    var (first, sum) = ([Int](), 0.0)
    for position in words.indices where stands(term, at: position) {
      first.append(position)
      let last = words[position + term.words.count - 1]
      let wanted = term.words.last?.count ?? 0
      sum += last.end > last.start ? Double(wanted) / Double(last.end - last.start) : 1
    }
    return TermPlaces(first: first, sum: sum)
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
  func rank(_ texts: [(text: String, weight: Double)]) -> Double {
    let (saturation, usualLength) = (1.2, 100.0)
    var rank = 0.0
    for (text, weight) in texts {
      let folded = FoldedText(text)
      let length = 0.25 + 0.75 * Double(folded.words.count) / usualLength
      for term in terms {
        let sum = folded.places(of: term).sum
        if sum > 0 { rank += weight * sum / (sum + saturation * length) }
      }
    }
    return rank
  }
}
