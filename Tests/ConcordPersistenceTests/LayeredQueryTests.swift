import Concord
import ConcordModel
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Live queries over stores follow the layers of a view's store")
struct LayeredQueryTests {
  @Test("A query shows what layers make, at its place, without an outbox", arguments: StoreKind.allCases)
  func random(_ kind: StoreKind) async throws {
    for seed in TestOptions.seeds(kind.isShared ? 1 : 4, from: 1) {
      try await StrategyKind.direct.withContainer(kind) { container in
        var random = SeededGenerator(seed: seed)
        let (view, context) = (container.viewContext, container.newBackgroundContext())
        view.followLayers()
        /// What is stored, and what each layer changes of it.
        var stars = Dictionary(uniqueKeysWithValues: (0..<30).map { ($0, $0 % 6) })
        var names = ["a": "m", "b": "n", "c": "o"]
        var layers: [(layer: OptimisticLayer, stars: [Int: Int], names: [String: String])] = []
        for (id, count) in stars { context.insert(Review(id: id, text: "", stars: count)) }
        let authors = names.keys.sorted()
        for (id, author) in authors.enumerated() {
          context.insert(
            Book(id: author, title: "\(id)", isbn: author, author: Author(id: author, name: names[author] ?? "")))
        }
        try context.save()
        let best = try view.query(
          FetchDescriptor<Review>(
            sortBy: [SortDescriptor(\.stars, order: .reverse), SortDescriptor(\.id)], fetchLimit: 5))
        let poor = try view.query(FetchDescriptor<Review>(predicate: #Predicate { ($0.stars ?? 0) < 2 }))
        let byAuthor = try view.query(
          FetchDescriptor<Book>(sortBy: [SortDescriptor(\.author.name, comparator: .lexical)], fetchLimit: 2))
        // A layer changes what is in the view.
        let held = try (0..<30).map { try view.find(Review.self, id: $0) }
        let heldAuthors = try authors.map { try view.find(Author.self, id: $0) }
        for step in 0..<60 {
          let (id, count) = (Int.random(in: 0..<30, using: &random), Int.random(in: 0..<9, using: &random))
          let (author, name) = (random.pick(authors), "\(Int.random(in: 0..<100, using: &random))")
          switch Int.random(in: 0..<6, using: &random) {
          case 0, 1:
            let layer = view.store.optimistically { $0.update(Review.self, id: id) { $0.stars = count } }
            layers.append((layer, [id: count], [:]))
          case 2:
            let layer = view.store.optimistically { $0.update(Author.self, id: author) { $0.name = name } }
            layers.append((layer, [:], [author: name]))
          case 3:
            if layers.isEmpty { continue }
            layers.remove(at: Int.random(in: layers.indices, using: &random)).layer.rollBack()
          default:
            try context.update(Review.self, id: id) { $0.stars = count }
            try context.update(Author.self, id: author) { $0.name = name }
            try context.save()
            try await container.flush()
            (stars[id], names[author]) = (count, name)
          }
          let shown = layers.reduce(into: stars) { $0.merge($1.stars) { $1 } }
          let shownNames = layers.reduce(into: names) { $0.merge($1.names) { $1 } }
          let ordered = shown.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key < $1.key }.map(\.key)
          #expect(best.value.map(\.id) == Array(ordered.prefix(5)), "seed \(seed), step \(step)")
          #expect(poor.value.map(\.id) == shown.filter { $0.value < 2 }.keys.sorted(), "seed \(seed), step \(step)")
          let expected = authors.sorted { (shownNames[$0] ?? "", $0) < (shownNames[$1] ?? "", $1) }
          #expect(byAuthor.value.map(\.id) == Array(expected.prefix(2)), "seed \(seed), step \(step)")
        }
        withExtendedLifetime((held, heldAuthors)) {}
      }
    }
  }
}
