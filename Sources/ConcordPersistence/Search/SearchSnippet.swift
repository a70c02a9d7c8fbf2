/// A part of a text that a search has found, with the words that were searched for.
///
/// ```swift
/// print(hit.snippets.map { $0.marked("<b>", "</b>") })
/// ```
public struct SearchSnippet: Sendable, Hashable {
  /// The name of the property that has the text.
  public let property: String
  /// The part of the text. It begins or ends with `…` where it is not the whole.
  public let text: String
  /// The ranges of the found words in ``text``, in order.
  public let highlights: [Range<String.Index>]

  /// Returns the text with something before and after each found word.
  ///
  /// The text itself is not changed: escape it first, with ``parts``, where it is shown as HTML.
  public func marked(_ start: String, _ end: String) -> String {
    parts.map { $0.isHighlighted ? start + $0.text + end : String($0.text) }.joined()
  }

  /// The text in parts, which are found words and what stands between them.
  public var parts: [(text: Substring, isHighlighted: Bool)] {
    var parts: [(text: Substring, isHighlighted: Bool)] = []
    var end = text.startIndex
    for range in highlights {
      if end < range.lowerBound { parts.append((text[end..<range.lowerBound], false)) }
      parts.append((text[range], true))
      end = range.upperBound
    }
    if end < text.endIndex { parts.append((text[end...], false)) }
    return parts
  }
}

extension SearchSnippet: CustomStringConvertible {
  /// The text with brackets around what was found.
  public var description: String { marked("[", "]") }
}

extension SearchQuery {
  /// Returns the part of a text that has most of what is searched for.
  ///
  /// - Parameter length: the length of the part in characters, about.
  /// - Complexity: the length of the text, times the number of words and phrases.
  func snippet(of text: String, property: String, length: Int) -> SearchSnippet {
    let folded = FoldedText(text)
    let words = folded.words(of: terms)
    // Whole characters: an accent is not cut off from its letter.
    let ranges = Self.joined(words.map { Self.characters($0.sourceStart..<$0.sourceEnd, in: text) })
    let length = max(0, length)
    guard text.count > length, length > 0 else {
      return SearchSnippet(property: property, text: text, highlights: ranges)
    }
    return Self.cut(text, ranges, length, property)
  }

  private static func characters(_ bytes: Range<Int>, in text: String) -> Range<String.Index> {
    func index(_ offset: Int) -> String.Index { text.utf8.index(text.utf8.startIndex, offsetBy: offset) }
    // The index after one within a character is that after the character.
    let start = text.index(before: text.index(after: index(bytes.lowerBound)))
    return start..<text.index(after: index(bytes.upperBound - 1))
  }

  /// Words may share a character.
  private static func joined(_ ranges: [Range<String.Index>]) -> [Range<String.Index>] {
    ranges.reduce(into: []) { joined, range in
      if let last = joined.last, range.lowerBound < last.upperBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
  }

  private static func cut(
    _ text: String, _ ranges: [Range<String.Index>], _ length: Int, _ property: String
  ) -> SearchSnippet {
    // Counted on from one word to the next, so that no part of the text is passed twice.
    var (counted, offset) = (text.startIndex, 0)
    func characters(before index: String.Index) -> Int {
      offset += text.distance(from: counted, to: index)
      counted = index
      return offset
    }
    let offsets = ranges.map { (start: characters(before: $0.lowerBound), end: characters(before: $0.upperBound)) }
    // The first place from which most words fit.
    var (start, best, last) = (text.startIndex, 0, 0)
    // The end of the words that fit, or the beginning of the first one.
    var shown = text.startIndex
    for (first, range) in ranges.enumerated() {
      let end = offsets[first].start + length * 3 / 4
      last = max(last, first)
      while last < ranges.count, offsets[last].end <= end { last += 1 }
      if last - first > best { (best, start, shown) = (last - first, range.lowerBound, ranges[last - 1].upperBound) }
    }
    if best == 0, let first = ranges.first { (start, shown) = (first.lowerBound, first.lowerBound) }
    // A quarter stands before it, from a space on.
    let earliest = text.index(start, offsetBy: -length / 4, limitedBy: text.startIndex) ?? text.startIndex
    if earliest > text.startIndex {
      let space = text[earliest..<start].firstIndex(where: \.isWhitespace)
      start = space.map { text.index(after: $0) } ?? earliest
    } else {
      start = text.startIndex
    }
    var end = text.index(start, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex
    if end < text.endIndex, let space = text[start..<end].lastIndex(where: \.isWhitespace), space > start,
      space >= shown
    {
      end = space
    }
    // Found words stand in it as a whole, or not at all, but for the first one if none fits.
    var kept = ranges.filter { $0.lowerBound >= start && $0.upperBound <= end }
    if kept.isEmpty, let long = ranges.first(where: { $0.lowerBound >= start && $0.lowerBound < end }) {
      kept = [long.lowerBound..<end]
    }
    let beginning = start > text.startIndex ? "…" : ""
    let cut = beginning + text[start..<end] + (end < text.endIndex ? "…" : "")
    func index(_ index: String.Index) -> String.Index {
      cut.utf8.index(
        cut.utf8.startIndex,
        offsetBy: beginning.utf8.count + text.utf8.distance(from: start, to: index))
    }
    return SearchSnippet(
      property: property, text: cut, highlights: kept.map { index($0.lowerBound)..<index($0.upperBound) })
  }
}
