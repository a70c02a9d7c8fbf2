import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// Stores of configurations that come and go in any order, beside the plainest model of where each entity is kept.
@Suite("Configurations whose stores are attached later")
struct RandomConfigurationTests {
  private enum Outcome: Hashable { case attached, moved, refused }

  private struct Kept {
    var reviews: Set<Int> = []
    var authors: Set<String> = []
    /// The ids of what each book refers to.
    var books: [String: (author: String, reviews: [Int])] = [:]
  }

  private struct World {
    let kind: StoreKind
    let folder: URL
    let container: GenericPersistentContainer<ContextStrategy.Direct>
    var stores: [String: PersistentStore] = [:]
    /// The contents of the stores, also of detached ones, by their configurations; that of the store without one is empty.
    var kept: [String: Kept] = [:]
    var next = 0

    static let configurations = ["", "Reviews", "Authors"]

    init(_ kind: StoreKind, _ folder: URL) throws {
      (self.kind, self.folder) = (kind, folder)
      let model = try Model(
        "Library", entities: [Book.self], configurations: ["Reviews": [Review.self], "Authors": [Author.self]])
      container = GenericPersistentContainer(name: "Library", model: model)
    }

    /// The configuration whose store keeps entities of one; `nil` if none does.
    func home(_ configuration: String) -> String? {
      stores[configuration] != nil ? configuration : stores[""] != nil ? "" : nil
    }
    var reviews: Set<Int>? { home("Reviews").map { kept[$0, default: Kept()].reviews } }
    var authors: Set<String>? { home("Authors").map { kept[$0, default: Kept()].authors } }

    /// The configurations of which the store without one has entities, if that and their own store are attached.
    func hidden(with new: String) -> [String] {
      let attached = Set(stores.keys).union([new])
      let plain = kept["", default: Kept()]
      guard attached.contains("") else { return [] }
      return [("Reviews", plain.reviews.isEmpty), ("Authors", plain.authors.isEmpty)].compactMap { name, isEmpty in
        attached.contains(name) && !isEmpty ? name : nil
      }
    }

    mutating func attach(_ configuration: String, moves: Bool) throws -> Outcome {
      let hidden = hidden(with: configuration)
      func attach() throws -> PersistentStore {
        try container.attachPersistentStore(
          at: folder,
          for: StoreConfiguration(
            name: configuration.isEmpty ? nil : configuration, type: kind.type,
            options: moves ? [ConcordMoveEntitiesOption: true] : [:]))
      }
      if !hidden.isEmpty && !moves {
        #expect {
          _ = try attach()
        } throws: { error in
          guard case StoreError.keptElsewhere = error else { return false }
          return true
        }
        return .refused
      }
      stores[configuration] = try attach()
      for name in hidden {
        if name == "Reviews" {
          kept[name, default: Kept()].reviews.formUnion(kept["", default: Kept()].reviews)
          kept["", default: Kept()].reviews = []
        } else {
          kept[name, default: Kept()].authors.formUnion(kept["", default: Kept()].authors)
          kept["", default: Kept()].authors = []
        }
      }
      return hidden.isEmpty ? .attached : .moved
    }

    mutating func detach(_ configuration: String) throws {
      guard let store = stores.removeValue(forKey: configuration) else { return }
      try container.detach(persistentStore: store)
      if kind == .memory { kept[configuration] = nil }
    }

    mutating func insert() throws {
      next += 1
      let (review, author) = (Review(id: next, text: "\(next)"), Author(id: "\(next)", name: "\(next)"))
      let context = container.newBackgroundContext()
      if let home = home("Reviews") {
        context.insert(review)
        kept[home, default: Kept()].reviews.insert(next)
      }
      if let home = home("Authors") {
        context.insert(author)
        kept[home, default: Kept()].authors.insert("\(next)")
      }
      if stores[""] != nil {
        context.insert(Book(id: "\(next)", title: "", author: author, reviews: [review]))
        kept["", default: Kept()].books["\(next)"] = ("\(next)", [next])
      }
      try context.save()
    }

    func check(_ comment: Comment) throws {
      let context = container.newBackgroundContext()
      if let reviews {
        let found = try context.fetch(FetchDescriptor<Review>())
        #expect(Set(found.map(\.id)) == reviews && found.count == reviews.count, comment)
        #expect(found.allSatisfy { $0.text == "\($0.id)" }, comment)
      }
      if let authors {
        let found = try context.fetch(FetchDescriptor<Author>())
        #expect(Set(found.map(\.id)) == authors && found.count == authors.count, comment)
      }
      guard stores[""] != nil else { return }
      // What refers to something in a store that is not attached is an error, which names it, and hides nothing else.
      for (id, parts) in kept["", default: Kept()].books {
        let isWhole = authors?.contains(parts.author) == true && reviews?.isSuperset(of: parts.reviews) == true
        let found = Result { try context.find(Book.self, id: id) }
        if isWhole {
          let book = try found.get()
          #expect(book?.author.id == parts.author && book?.reviews.map(\.id) == parts.reviews, comment)
        } else {
          #expect(throws: StoreError.self, comment) { _ = try found.get() }
        }
      }
    }
  }

  @Test(
    "Whatever is attached when, all that the attached stores have is found, or attaching is refused and changes nothing",
    arguments: StoreKind.allCases)
  func random(_ kind: StoreKind) throws {
    var outcomes: [Outcome: Int] = [:]
    for seed in TestOptions.seeds(kind.share(of: TestOptions.isLong ? 60 : 10)) {
      try withFolder { folder in
        var random = SeededGenerator(seed: seed)
        var world = try World(kind, folder)
        var log: [String] = []
        for _ in 0..<30 {
          let configuration = random.pick(World.configurations)
          switch Int.random(in: 0..<5, using: &random) {
          case 0...2 where world.stores[configuration] == nil:
            let moves = Bool.random(using: &random)
            let outcome = try world.attach(configuration, moves: moves)
            outcomes[outcome, default: 0] += 1
            log.append("attach '\(configuration)'\(moves ? ", moving" : ""): \(outcome)")
          case 0:
            log.append("detach '\(configuration)'")
            try world.detach(configuration)
          default:
            log.append("insert")
            try world.insert()
          }
          try world.check("CONCORD_RANDOM_SEED=\(seed): \(kind), \(log)")
        }
        for configuration in World.configurations { try world.detach(configuration) }
      }
    }
    if kind.isForManySteps { #expect(outcomes.count == 3, "\(outcomes)") }
  }
}
