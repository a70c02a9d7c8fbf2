extension FoldedText {
  /// Whether a word is one of a term.
  private func isSame(_ word: Word, _ wanted: [UInt8]) -> Bool {
    word.end - word.start == wanted.count && self[word].elementsEqual(wanted)
  }

  /// Whether a word is the last one of a term, or begins with that if it may go on.
  private func isLast(_ word: Word, of term: SearchTerm) -> Bool {
    guard let wanted = term.words.last else { return false }
    return isSame(word, wanted)
      || term.isPrefix && word.end - word.start > wanted.count && self[word].starts(with: wanted)
  }

  /// Passes the places of a term, which are the positions of their first words, in order; until the closure returns `false`.
  ///
  /// - Complexity: the length of the text.
  private func forEachPlace(of term: SearchTerm, _ body: (Int) -> Bool) {
    let last = term.words.count - 1
    term.beginning.forEachPlace(in: last == 0 ? words.count : words.count - 1) {
      isSame(words[$0], term.words[$1])
    } _: { first in
      isLast(words[first + last], of: term) ? body(first) : true
    }
  }

  func contains(_ term: SearchTerm) -> Bool {
    var isFound = false
    forEachPlace(of: term) { _ in
      isFound = true
      return false
    }
    return isFound
  }

  /// The places of a term: the positions of their first words.
  func places(of term: SearchTerm) -> [Int] {
    var places: [Int] = []
    forEachPlace(of: term) { first in
      places.append(first)
      return true
    }
    return places
  }

  /// The sum of what each place of a term counts: 1, and for a word that goes on the part of it that was searched for.
  func sum(of term: SearchTerm) -> Double {
    var sum = 0.0
    let wanted = Double(term.words.last?.count ?? 0)
    forEachPlace(of: term) { first in
      let last = words[first + term.words.count - 1]
      sum += last.end > last.start ? wanted / Double(last.end - last.start) : 1
      return true
    }
    return sum
  }

  /// The words that belong to places of some terms, in order.
  func words(of terms: [SearchTerm]) -> [Word] {
    var isFound = Array(repeating: false, count: words.count)
    for term in terms {
      // Places may overlap, and each word is noted once.
      var end = 0
      for first in places(of: term) {
        for position in max(first, end)..<first + term.words.count { isFound[position] = true }
        end = first + term.words.count
      }
    }
    return words.indices.lazy.filter { isFound[$0] }.map { words[$0] }
  }
}

extension SearchQuery {
  /// Whether texts are a hit. Words may stand in different ones; a phrase stands in one.
  func matches(_ texts: [FoldedText]) -> Bool {
    tree?.holds { term in texts.contains { $0.contains(term) } } ?? false
  }

  /// Whether texts are a hit.
  ///
  /// - Complexity: the length of the texts, times the number of words and phrases that are searched for; how long a phrase is makes no
  ///   difference.
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
