import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Random searches")
struct RandomSearchTests {
  private let seed = TestOptions.seed(1)

  @Test("All stores find the same as a naive search, in the same order", arguments: StoreKind.allCases)
  func hits(_ kind: StoreKind) throws {
    var random = SeededGenerator(seed: seed)
    try kind.withStore(essayModel()) { store in
      let entity = try essayModel().entity(Essay.self)
      let coordinator = PersistentStoreCoordinator(model: try essayModel())
      try coordinator.attach(store, configuration: "")
      let context = BackgroundContext(parent: coordinator)
      var essays: [Int: Essay] = [:]
      for step in 0..<(TestOptions.isLong ? 60 : 3) {
        for _ in 0..<12 {
          let id = Int.random(in: 0..<60, using: &random)
          if Int.random(in: 0..<5, using: &random) == 0 {
            essays[id] = nil
            try context.delete(Essay.self, id: id)
          } else {
            let text = Bool.random(using: &random) ? SearchWords.text(&random) : nil
            let essay = Essay(id, SearchWords.text(&random), text, year: step)
            essays[id] = essay
            context.insert(essay)
          }
        }
        if step % 3 > 0 { try context.save() }
        for _ in 0..<10 {
          let search = NaiveSearch.random(3, &random)
          let text = search.text(&random)
          let query = SearchQuery(text)
          let expected = essays.values.filter { search.holds([$0.title, $0.text]) ?? false }.sorted {
            let (a, b) = ($0[searchRank: query], $1[searchRank: query])
            return a > b || a == b && $0.id < $1.id
          }
          let comment: Comment = "CONCORD_RANDOM_SEED=\(seed): step \(step), \(text.debugDescription)"
          let found = try context.fetch(FetchDescriptor<Essay>(search: query))
          #expect(found == expected, comment)
          let best = try context.fetch(FetchDescriptor<Essay>(search: query, fetchLimit: 3, fetchOffset: 1))
          #expect(best == Array(expected.dropFirst().prefix(3)), comment)
          let early = #Predicate<Essay> { $0.year < step }
          let count = try context.count(FetchDescriptor(predicate: Essay.matching(query, and: early)))
          #expect(count == expected.count { $0.year < step }, comment)
          let bestEarly = try context.fetch(FetchDescriptor<Essay>(search: query, where: early, fetchLimit: 3))
          #expect(bestEarly == Array(expected.filter { $0.year < step }.prefix(3)), comment)
          let others = RowQuery(entity, where: .not(.matches(query, in: entity.searchablePositions)))
          if !context.hasChanges {
            #expect(try store.read { try $0.count(others) } == essays.count - expected.count, comment)
          }
        }
      }
    }
  }

  @Test("Any text is a search, and its snippets are parts of the text")
  func anyText() {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<(TestOptions.isLong ? 20_000 : 300) {
      let query = SearchQuery((0..<3).map { _ in SearchWords.text(&random) }.joined())
      let text = (0..<4).map { _ in SearchWords.text(&random) }.joined()
      #expect(query.matches([text]) == (query.matches([text.decomposedStringWithCanonicalMapping])))
      for length in [0, 1, 5, 20, 1_000] {
        let snippet = query.snippet(of: text, property: "text", length: length)
        #expect(snippet.parts.map(\.text).joined() == snippet.text)
        // By bytes: where a text is cut, its characters may be others.
        let mark = Array("…".utf8)
        var bytes = Array(snippet.text.utf8)
        if bytes.starts(with: mark), !text.utf8.starts(with: mark) { bytes.removeFirst(mark.count) }
        if bytes.suffix(mark.count) == mark[...], Array(text.utf8.suffix(mark.count)) != mark {
          bytes.removeLast(mark.count)
        }
        #expect(bytes.isEmpty || !Array(text.utf8).ranges(of: bytes).isEmpty, "\(text.debugDescription) \(snippet)")
      }
    }
  }
}
