import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Phrases in texts")
struct PhraseSearchTests {
  private let seed = TestOptions.seed(1)

  @Test("A run is found wherever it stands, with at most two comparisons for each element")
  func runs() {
    var random = SeededGenerator(seed: seed)
    for round in 0..<(TestOptions.isLong ? 100_000 : 3_000) {
      let letters = Int.random(in: 1...3, using: &random)
      func elements(_ count: Int) -> [Int] { (0..<count).map { _ in Int.random(in: 0..<letters, using: &random) } }
      let run = elements(Int.random(in: 0...7, using: &random))
      let all = elements(Int.random(in: 0...40, using: &random))
      var (prepared, compared, found) = (0, 0, [Int]())
      let search = PhraseSearch(count: run.count) {
        prepared += 1
        return run[$0] == run[$1]
      }
      search.forEachPlace(in: all.count) {
        compared += 1
        return all[$0] == run[$1]
      } _: {
        found.append($0)
        return true
      }
      let expected = all.indices.filter { all[$0...].starts(with: run) }
      #expect(found == expected, "CONCORD_RANDOM_SEED=\(seed): \(round), \(run) in \(all)")
      #expect(compared <= 2 * all.count && prepared <= 3 * run.count, "\(compared), \(prepared): \(run) in \(all)")
    }
  }

  @Test("A phrase of any length costs as much, also where it nearly stands at each word")
  func cost() {
    for count in [1_000, 2_000] {
      let same = Array(repeating: 0, count: 3 * count)
      for run in [Array(repeating: 0, count: count), Array(repeating: 0, count: count - 1) + [1]] {
        var compared = 0
        PhraseSearch(count: count) { run[$0] == run[$1] }.forEachPlace(in: same.count) {
          compared += 1
          return same[$0] == run[$1]
        } _: { _ in
          true
        }
        #expect(compared <= 2 * same.count)
      }
    }
    // The same of texts, where a phrase eight times as long took six times as long.
    let text = String(repeating: "a ", count: 8_000)
    func time(_ length: Int) -> Duration {
      let query = SearchQuery("\"" + String(repeating: "a ", count: length - 1) + "b\"")
      return ContinuousClock().measure {
        #expect(!query.matches([text]) && query.snippet(of: text, property: "t", length: 20).highlights.isEmpty)
      }
    }
    let (short, long) = ((0..<3).map { _ in time(250) }.min() ?? .zero, (0..<3).map { _ in time(2_000) }.min() ?? .zero)
    #expect(long < short * 3 + .milliseconds(50), "\(short), \(long)")
  }

  @Test("A snippet of any length costs the length of the text, whatever stands in it")
  func snippetCost() {
    func time(_ count: Int) -> Duration {
      let text = String(repeating: "a ", count: count)
      let query = SearchQuery("\"" + String(repeating: "a ", count: count / 4) + "\"")
      return ContinuousClock().measure {
        #expect(query.snippet(of: text, property: "t", length: count).highlights.count > count / 3)
      }
    }
    let (short, long) = (
      (0..<3).map { _ in time(1_500) }.min() ?? .zero, (0..<3).map { _ in time(6_000) }.min() ?? .zero
    )
    // Four times as long a text; it was sixteen times the time.
    #expect(long < short * 9 + .milliseconds(50), "\(short), \(long)")
  }

  @Test("Phrases, also with a last word that goes on, are found as a naive search finds them")
  func naive() {
    var random = SeededGenerator(seed: seed)
    for round in 0..<(TestOptions.isLong ? 50_000 : 2_000) {
      func words(_ count: Int) -> [String] {
        (0..<count).map { _ in ["a", "b", "ab", "aba", "é"].randomElement(using: &random) ?? "a" }
      }
      let (wanted, all) = (words(Int.random(in: 1...5, using: &random)), words(Int.random(in: 0...20, using: &random)))
      let isPrefix = Bool.random(using: &random)
      let query = SearchQuery("\"\(wanted.joined(separator: " "))\"\(isPrefix ? "*" : "")")
      let folded = FoldedText(all.joined(separator: ", "))
      let (plain, last) = (wanted.map { $0 == "é" ? "e" : $0 }, wanted.count - 1)
      let texts = all.map { $0 == "é" ? "e" : $0 }
      let expected = texts.indices.filter { first in
        first + last < texts.count
          && (0..<last).allSatisfy { texts[first + $0] == plain[$0] }
          && (texts[first + last] == plain[last] || isPrefix && texts[first + last].hasPrefix(plain[last]))
      }
      let comment: Comment = "CONCORD_RANDOM_SEED=\(seed): \(round), \(query.text) in \(all)"
      #expect(folded.places(of: query.terms[0]) == expected, comment)
      #expect(query.matches([folded]) == !expected.isEmpty, comment)
      let covered = Set(expected.flatMap { $0...$0 + last }).sorted()
      #expect(folded.words(of: query.terms) == covered.map { folded.words[$0] }, comment)
      let sum = expected.reduce(0.0) { $0 + Double(plain[last].count) / Double(texts[$1 + last].count) }
      #expect(abs(folded.sum(of: query.terms[0]) - sum) < 1e-9, comment)
    }
  }

  @Test("A star before the closing quote and one behind it find the same in each store", arguments: StoreKind.allCases)
  func starInQuotes(_ kind: StoreKind) throws {
    try kind.withCoordinator(essayModel()) { coordinator in
      let context = coordinator.newContext()
      let texts = ["The red pony", "A red poppy", "A red pen", "po red", "red po", "redder pony"]
      for (id, text) in texts.enumerated() { context.insert(Essay(id, text)) }
      func ids(_ query: SearchQuery) throws -> [Int] {
        try context.fetch(FetchDescriptor<Essay>(search: query)).map(\.id).sorted()
      }
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        for query: SearchQuery in ["\"red po*\"", "\"red po\"*", "“red po*”"] {
          #expect(try ids(query) == [0, 1, 4], "\(query), saved: \(isSaved)")
        }
        #expect(try ids("red -\"red po*\"") == [2, 3])
        #expect(try ids("\"red* po\"") == [4])
      }
    }
  }

  @Test("A phrase of more words than an index looks up is found as a whole", arguments: StoreKind.allCases)
  func long(_ kind: StoreKind) throws {
    try kind.withStore(essayModel()) { store in
      let coordinator = PersistentStoreCoordinator(model: try essayModel())
      try coordinator.attach(store, configuration: "")
      let context = BackgroundContext(parent: coordinator)
      let words = (0..<100).map { "w\($0 % 7)" }
      for id in 0..<5 {
        var own = words
        own[20 * id] = "other"
        context.insert(Essay(id, own.joined(separator: " ")))
      }
      context.insert(Essay(9, words.joined(separator: " ")))
      try context.save()
      func found(_ phrase: [String], _ end: String = "\"") throws -> [Int] {
        let query = SearchQuery("\"" + phrase.joined(separator: " ") + end)
        let hits = try context.fetch(FetchDescriptor<Essay>(search: query)).map(\.id)
        #expect(try context.fetch(FetchDescriptor<Essay>(search: query, fetchLimit: 9)).map(\.id) == hits)
        return hits.sorted()
      }
      #expect(try found(words) == [9])
      // The words repeat themselves: it begins at several places of most texts.
      #expect(try found(Array(words[1..<60])) == [0, 1, 3, 4, 9])
      #expect(try found(words[1..<59] + ["w"], "\"*") == [0, 1, 3, 4, 9])
      #expect(try found(words[1..<16] + ["w"], "\"*") == [0, 1, 2, 3, 4, 9])
      #expect(try found(words[1..<59] + ["x"], "\"*") == [])
    }
  }
}
