import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("The order of texts")
struct TextOrderTests {
  private func bytes<R>(_ text: String, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    var text = text
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  private func sign(_ a: String, _ b: String) -> Int {
    let (a, b) = (a.precomposedStringWithCanonicalMapping, b.precomposedStringWithCanonicalMapping)
    if a.unicodeScalars.lexicographicallyPrecedes(b.unicodeScalars) { return -1 }
    return b.unicodeScalars.lexicographicallyPrecedes(a.unicodeScalars) ? 1 : 0
  }

  private func contains<C: Collection, D: Collection>(_ a: C, _ b: D) -> Bool
  where C.Element: Equatable, C.Element == D.Element { a.contains(b) }

  private func starts<C: Sequence, D: Sequence>(_ a: C, _ b: D) -> Bool
  where C.Element: Equatable, C.Element == D.Element { a.starts(with: b) }

  @Test("Bytes tell what Swift's strings tell: order, equality, parts, beginnings, characters")
  func agrees() {
    let seed = TestOptions.seed(7)
    var random = SeededGenerator(seed: seed)
    let texts = (0..<250).map { _ in hostileText(&random) + (Bool.random(using: &random) ? hostileText(&random) : "") }
    for a in texts {
      for b in texts {
        let comment: Comment = "CONCORD_RANDOM_SEED=\(seed): \(a.debugDescription), \(b.debugDescription)"
        let order = bytes(a) { a in bytes(b) { TextOrder.compare(a, $0) } }.signum()
        let isSame =
          order == sign(a, b) && order == TextOrder.compare(a, b).signum() && (order == 0) == (a == b)
          && bytes(a) { a in bytes(b) { TextOrder.compareAsSwift(a, $0) } } == (a < b ? -1 : b < a ? 1 : 0)
          && bytes(a) { a in bytes(b) { TextSearch.contains(a, $0) } } == contains(a, b)
          && bytes(a) { a in bytes(b) { TextSearch.starts(a, with: $0) } } == starts(a, b)
        if !isSame { #expect(isSame, comment) }
        // Where Foundation does not contradict itself, sorts are as its own.
        let isComposed = [a, b].allSatisfy { $0.unicodeScalars.elementsEqual($0.canonicallyComposed.unicodeScalars) }
        if isComposed, String.StandardComparator.lexical.compare(a, b).rawValue != order {
          #expect(Bool(false), comment)
        }
      }
      #expect(bytes(a) { TextSearch.count($0) } == a.count, "\(a.debugDescription)")
    }
  }

  @Test("Plain scalars are those that normalization leaves alone wherever they stand")
  func plainScalars() {
    var followers: Set<UInt32> = []
    let all = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init)
    for scalar in all {
      for follower in String(Character(scalar)).decomposedStringWithCanonicalMapping.unicodeScalars.dropFirst() {
        followers.insert(follower.value)
      }
    }
    for scalar in all where PlainScalars.contains(scalar.value) {
      let composed = String(Character(scalar)).precomposedStringWithCanonicalMapping
      let isPlain =
        composed.unicodeScalars.elementsEqual([scalar])
        && scalar.properties.canonicalCombiningClass == .notReordered && !followers.contains(scalar.value)
      if !isPlain { #expect(isPlain, "U+\(String(scalar.value, radix: 16))") }
    }
    for (range, next) in zip(PlainScalars.ranges, PlainScalars.ranges.dropFirst()) {
      #expect(range.upperBound < next.lowerBound)
    }
  }

  #if Persistence
    @Test("The end of a prefix is behind all that begin with it")
    func prefixes() {
      #expect("ab".endOfPrefix == "ac")
      #expect("a\u{D7FF}".endOfPrefix == "a\u{E000}")
      #expect("a\u{10FFFF}".endOfPrefix == "b")
      #expect("\u{10FFFF}".endOfPrefix == nil)
    }
  #endif
}
