import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("The best hits of a search")
struct BestHitsTests {
  private let seed = TestOptions.seed(1)

  @Test("They are the first ones of all hits in order, whatever comes when", arguments: [1, 2, 40, 1_000])
  func random(_ limit: Int) {
    var random = SeededGenerator(seed: seed)
    for count in [0, 1, limit, 3 * limit + 200] {
      let hits = (0..<count).map { number in
        RankedHit(rank: Double(Int.random(in: 0..<9, using: &random)) / 4, key: .integer(Int64(number)))
      }.shuffled(using: &random)
      var best = BestHits(limit)
      for hit in hits { best.add(hit.rank, hit.key) }
      #expect(best.inOrder() == Array(hits.sorted { $0.precedes($1) }.prefix(limit)), "CONCORD_RANDOM_SEED=\(seed)")
    }
  }

  @Test("The words that an index has tell the rank of a text, unless some are cut")
  func indexedWords() {
    var random = SeededGenerator(seed: seed)
    for round in 0..<500 {
      let text = (0..<3).map { _ in SearchWords.text(&random) }.joined(separator: " ")
      let query = SearchQuery(NaiveSearch.random(2, &random).text(&random))
      let folded = FoldedText(text)
      let indexed = Array(folded.indexedWords.utf8).withUnsafeBufferPointer { FoldedText(indexedWords: $0) }
      #expect(indexed.texts == folded.texts && !indexed.mayBeCut)
      #expect(
        query.rankIfHit([(indexed, 2)]) == query.rankIfHit([(folded, 2)]),
        "CONCORD_RANDOM_SEED=\(seed): \(round), \(query.text)")
    }
    for count in 90..<110 {
      let folded = FoldedText(
        "short " + String(repeating: "ä", count: count % 2) + String(repeating: "語x", count: 1)
          + String(repeating: "x", count: count))
      let indexed = Array(folded.indexedWords.utf8).withUnsafeBufferPointer { FoldedText(indexedWords: $0) }
      #expect(indexed.mayBeCut || indexed.texts == folded.texts, "\(count)")
    }
  }

  @Test("Bytes are folded as the text that they are, also where they are no UTF-8")
  func bytes() {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      var bytes = Array(SearchWords.text(&random).utf8)
      if !bytes.isEmpty, Bool.random(using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let folded = bytes.withUnsafeBufferPointer { FoldedText(bytes: $0) }
      #expect(folded.texts == FoldedText(String(decoding: bytes, as: UTF8.self)).texts, "\(bytes)")
    }
  }
}
