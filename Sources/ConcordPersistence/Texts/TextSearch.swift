import Foundation

/// Searches in texts with Swift's results, character by character, or by bytes where these give the same.
enum TextSearch {
  /// Returns whether each scalar of a text is a character that has one form only: scalars up to U+02FF, except the
  /// carriage return, which forms one character with a line feed.
  static func isSimple(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      guard word & 0x8080_8080_8080_8080 == 0, !hasCarriageReturn(word) else { break }
      index += 8
    }
    while index < bytes.count {
      let byte = bytes[index]
      if byte < 0x80 {
        if byte == 0x0D { return false }
        index += 1
      } else {
        guard byte >= 0xC2, byte <= 0xCB, index + 1 < bytes.count, bytes[index + 1] & 0xC0 == 0x80 else { return false }
        index += 2
      }
    }
    return true
  }

  private static func hasCarriageReturn(_ word: UInt64) -> Bool {
    let difference = word ^ 0x0D0D_0D0D_0D0D_0D0D
    return (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080 != 0
  }

  static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
    guard isSimple(text), isSimple(part) else {
      return contains(String(decoding: text, as: UTF8.self), String(decoding: part, as: UTF8.self))
    }
    return find(part, in: text)
  }

  private static func find(_ part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
    guard let bytes = part.baseAddress, let first = part.first else { return true }
    guard var start = text.baseAddress else { return false }
    var left = text.count
    while left >= part.count, let found = memchr(start, Int32(first), left - part.count + 1) {
      if memcmp(found, bytes, part.count) == 0 { return true }
      left -= UnsafeRawPointer(found) + 1 - start
      start = UnsafeRawPointer(found) + 1
    }
    return false
  }

  // As a predicate does it, which is neither `String.contains` nor what Foundation adds to it.
  static func contains(_ text: String, _ part: String) -> Bool {
    let expression = PredicateExpressions.CollectionContainsCollection(
      base: PredicateExpressions.Value(text), other: PredicateExpressions.Value(part))
    return (try? expression.evaluate(PredicateBindings())) ?? false
  }

  static func starts(_ text: String, with part: String) -> Bool {
    let expression = PredicateExpressions.SequenceStartsWith(
      base: PredicateExpressions.Value(text), prefix: PredicateExpressions.Value(part))
    return (try? expression.evaluate(PredicateBindings())) ?? false
  }

  static func starts(_ text: UnsafeRawBufferPointer, with part: UnsafeRawBufferPointer) -> Bool {
    // Of the text only so much counts as the part is long, and the scalar behind it.
    let head = UnsafeRawBufferPointer(rebasing: text.prefix(part.count + 2))
    guard isSimple(part), isSimple(head) || isCut(head, of: text) else {
      return starts(String(decoding: text, as: UTF8.self), with: String(decoding: part, as: UTF8.self))
    }
    guard part.count > 0, let bytes = part.baseAddress else { return true }
    guard text.count >= part.count, let start = text.baseAddress else { return false }
    return memcmp(start, bytes, part.count) == 0
  }

  /// Whether only its last byte, the first one of a scalar, keeps the beginning of a text from being simple.
  private static func isCut(_ head: UnsafeRawBufferPointer, of text: UnsafeRawBufferPointer) -> Bool {
    guard head.count < text.count, let last = head.last, last >= 0xC2, last <= 0xCB else { return false }
    return isSimple(UnsafeRawBufferPointer(rebasing: head.dropLast()))
  }

  /// Returns the number of characters.
  static func count(_ text: UnsafeRawBufferPointer) -> Int {
    guard isSimple(text) else { return String(decoding: text, as: UTF8.self).count }
    return text.count(where: { $0 & 0xC0 != 0x80 })
  }
}
