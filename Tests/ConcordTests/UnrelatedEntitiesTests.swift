#if DEBUG
  import Concord
  import Synchronization
  import Testing

  @Suite("Entities in no relation")
  struct UnrelatedEntitiesTests {
    private let log = Findings()
    private var store: EntityStore { log.store }
    private let ada = Author(id: 1, name: "Ada")

    @Test("One in a plain struct is found, with its path and what to write")
    func plainStruct() throws {
      store.store(Book(id: 2, author: ada, edition: Edition(year: 1, translator: Author(id: 2, name: "B"))))
      let finding = try #require(log.all.first)
      #expect(log.all.count == 1)
      #expect(finding.type == "Book" && finding.path == "edition.translator")
      #expect(
        finding.advice == "declare 'Edition' '@EntityWrapper', or list '.init(\\.edition.translator)'; if it is to "
          + "stay as it was written, mark 'edition' '@EntityIgnored' or name it in 'ignoredEntityProperties'")
    }

    @Test("One that stands in a relation as well is found: its plain copy goes stale")
    func besideRelation() throws {
      let book = store.store(Book(id: 1, author: ada, edition: Edition(year: 1, translator: ada)))
      let finding = try #require(log.all.first)
      #expect(log.all.count == 1)
      #expect(finding.type == "Book" && finding.path == "edition.translator")
      #expect(finding.advice.hasPrefix("declare 'Edition' '@EntityWrapper', or list '.init(\\.edition.translator)'; "))
      store.update(Author.self, id: 1) { $0.name = "Grace" }
      #expect(book.value.author.name == "Grace" && book.value.edition.translator?.name == "Ada")
      store.store(Owned(id: OwnerID(id: 1), hidden: ["a": [ada, ada], "b": [ada]], slot: .list([])))
      #expect(log.all.map(\.path) == ["edition.translator", "hidden[][]"])
    }

    @Test("One that stands in relations twice is not told")
    func twice() {
      store.store(Owned(id: OwnerID(id: 1), hidden: ["a": [ada, ada]], slot: .list([])))
      let leaf = Leaf(id: 1, text: 1)
      store.store(Owned(id: OwnerID(id: 2), hidden: [:], slot: .list([leaf, leaf])))
      #expect(log.all.isEmpty)
    }

    @Test("Each place is told once, whatever is stored")
    func once() {
      for id in 2..<200 {
        store.store(Book(id: id, author: ada, edition: Edition(year: 1, translator: Author(id: id, name: ""))))
      }
      #expect(log.all.map(\.path) == ["edition.translator"])
    }

    @Test("One that only later values hold is found later")
    func later() {
      for id in 1..<20 { store.store(Book(id: id, author: ada, edition: Edition(year: 1, translator: nil))) }
      #expect(log.all.isEmpty)
      for id in 1..<20 {
        store.update(Book.self, id: id) { $0.edition.translator = Author(id: 2, name: "B") }
        store.store(Book(id: id, author: ada, edition: Edition(year: 1, translator: Author(id: 2, name: "B"))))
      }
      #expect(log.all.map(\.path) == ["edition.translator"])
    }

    @Test("Looked at are the first 16 values of a type, the 32nd, the 64th and so on")
    func looks() {
      func store(_ ids: ClosedRange<Int>, _ translator: Author?) {
        for id in ids { self.store.store(Book(id: id, author: ada, edition: Edition(year: 1, translator: translator))) }
      }
      let grace = Author(id: 2, name: "Grace")
      log.keep(self.store.store(grace))
      store(1...16, nil)
      store(17...31, grace)
      #expect(log.all.isEmpty)
      store(32...32, grace)
      #expect(log.all.count == 1)
    }

    @Test("It is found behind any, in tuples, enums, collections and dictionaries, and in the keys of one")
    func everywhere() {
      let grace = Author(id: 2, name: "Grace")
      let shelf = Shelf(
        id: 1, any: grace, pair: (1, grace), named: (grace, 2), media: .book(grace),
        letters: [.letter(from: ada, to: grace)],
        editions: ["a": Edition(year: 1, translator: grace)], pairs: [(1, grace)], anys: [1, grace], ages: [grace: 1],
        deep: [[.book(grace)]])
      log.keep(store.store(ada))
      store.store(shelf)
      #expect(
        Set(log.all.map(\.path)) == [
          "any", "pair.1", "named.author", "media.book", "letters[].letter.from", "letters[].letter.to",
          "editions[].translator", "pairs[].1", "anys[]", "ages[key]", "deep[][].book",
        ])
      func advice(_ path: String) -> String {
        log.all.first { $0.path == path }?.advice.split(separator: ";").first.map(String.init) ?? ""
      }
      #expect(advice("any").hasPrefix("list '.init(\\.any)', or with '@Entity' declare it with 'var' and with a type"))
      #expect(advice("pair.1").hasPrefix("list '.init(\\.pair.1)'"))
      #expect(advice("pair.1").hasSuffix("hold it in an array of an enum declared '@EntityWrapper'"))
      #expect(advice("media.book") == "declare 'Medium' '@EntityWrapper'")
      #expect(advice("editions[].translator") == "declare 'Edition' '@EntityWrapper'")
      #expect(advice("pairs[].1") == "declare a struct '@EntityWrapper' in place of the tuple")
      #expect(advice("anys[]").hasSuffix("not 'any'"))
      #expect(advice("ages[key]") == "take the id of 'Author' as the key")
    }

    @Test("An entity that is no aggregate and holds one is told to become one")
    func noAggregate() throws {
      log.keep(store.store(ada))
      store.store(Post(id: 1, author: Author(id: 2, name: "B")))
      let finding = try #require(log.all.first)
      #expect(finding.type == "Post" && finding.path == "author")
      #expect(finding.advice.hasPrefix("declare 'Post' '@Entity', or an 'Aggregate' that lists '.init(\\.author)';"))
    }

    @Test("A type that is merely Identifiable is no entity until the store has one of it")
    func merelyIdentifiable() {
      let post = Post(id: 1, author: ada)
      store.store(post)
      #expect(log.all.isEmpty)
      log.keep(store.store(ada))
      #expect(log.all.map(\.path) == ["author"])
      store.store(Tagged(id: 1, genre: .novel, genres: [.novel]))
      #expect(log.all.count == 1)
    }

    @Test("An aggregate is one at once")
    func aggregates() {
      store.store(Draft(id: 1, any: Book(id: 1, author: ada, edition: Edition(year: 1, translator: nil))))
      #expect(log.all.map(\.path) == ["any"])
    }

    @Test("What is ignored is not told, in entities, in structs inside them and behind property wrappers")
    func ignored() {
      log.keep(store.store(ada))
      store.store(Order(id: 1, sold: ada, wrapped: ada, receipt: Receipt(buyer: ada)))
      #expect(log.all.isEmpty)
    }

    @Test("Ids, and what relations lead to by computed properties, wrappers and nested key paths, are not told")
    func noFalseAlarms() {
      let other = Author(id: 2, name: "B")
      log.keep(store.store(ada))
      store.store(Owned(id: OwnerID(id: 1), hidden: ["a": [ada, other]], slot: .list([Leaf(id: 1, text: 1)])))
      #expect(log.all.isEmpty)
      store.store(Crossing(id: 1, others: [Crossing(id: 2, others: [Crossing(id: 1, others: [])])]))
      #expect(log.all.isEmpty)
    }

    @Test("A transaction that throws tells nothing")
    func undone() {
      struct Undo: Error {}
      log.keep(store.store(ada))
      try? store.transaction { tx in
        tx.store(Post(id: 1, author: ada))
        throw Undo()
      }
      #expect(log.all.isEmpty)
    }

    @Test("The logger may use the store when it is told")
    func reentrant() {
      log.keep(store.store(ada))
      log.onFinding { store in store.store(Post(id: 2, author: Author(id: 3, name: "C"))) }
      store.store(Post(id: 1, author: ada))
      #expect(log.all.count == 1)
    }
  }

  private final class Findings: EntityStoreLogger {
    struct Finding {
      let type: String
      let path: String
      let advice: String
    }
    private let findings = Mutex<[Finding]>([])
    private let kept = Mutex<[any Sendable]>([])
    private let action = Mutex<(@Sendable (EntityStore) -> Void)?>(nil)
    private let made = Mutex<EntityStore?>(nil)

    var all: [Finding] { findings.withLock { $0 } }

    var store: EntityStore {
      made.withLock { store in
        let present = store ?? EntityStore(delivery: .immediate, logger: Forwarder(findings: self))
        store = present
        return present
      }
    }

    func keep(_ observer: some Sendable) { kept.withLock { $0.append(observer) } }
    func onFinding(_ action: @escaping @Sendable (EntityStore) -> Void) { self.action.withLock { $0 = action } }

    func didFindUnrelatedEntity<T: Identifiable>(in type: T.Type, at path: String, advice: String) {
      findings.withLock { $0.append(Finding(type: "\(type)", path: path, advice: advice)) }
      if let action = action.withLock({ $0 }) { action(store) }
    }
  }

  /// Does not keep the findings, which keep the store.
  private struct Forwarder: EntityStoreLogger {
    weak let findings: Findings?

    func didFindUnrelatedEntity<T: Identifiable>(in type: T.Type, at path: String, advice: String) {
      findings?.didFindUnrelatedEntity(in: type, at: path, advice: advice)
    }
  }

  private struct Author: Identifiable, Hashable {
    let id: Int
    var name: String
  }

  private struct Edition: Equatable {
    var year: Int
    var translator: Author?
  }

  private struct Book: Aggregate, Equatable {
    let id: Int
    var author: Author
    var edition: Edition
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author)] }
  }

  private enum Medium { case book(Author), letter(from: Author, to: Author) }

  private struct Shelf: Aggregate {
    let id: Int
    var any: any Sendable
    var pair: (Int, Author)
    var named: (author: Author, Int)
    var media: Medium
    var letters: [Medium]
    var editions: [String: Edition]
    var pairs: [(Int, Author)]
    var anys: [any Sendable]
    var ages: [Author: Int]
    var deep: [[Medium]]
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [] }
  }

  private struct Post: Identifiable {
    let id: Int
    var author: Author
  }

  private enum Genre: String, Identifiable {
    case novel
    var id: String { rawValue }
  }

  private struct Tagged: Aggregate {
    let id: Int
    var genre: Genre
    var genres: [Genre]
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [] }
  }

  private struct Draft: Aggregate {
    let id: Int
    var any: any Sendable
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [] }
  }

  @propertyWrapper private struct Loud<Value: Sendable>: Sendable {
    var wrappedValue: Value
  }

  private struct Receipt: EntityIgnoring {
    var buyer: Author
    static var ignoredEntityProperties: Set<String> { ["buyer"] }
  }

  private struct Order: Aggregate, EntityIgnoring {
    let id: Int
    let sold: Author
    @Loud var wrapped: Author
    var receipt: Receipt
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [] }
    static var ignoredEntityProperties: Set<String> { ["sold", "wrapped"] }
  }

  private struct OwnerID: Identifiable, Hashable {
    let id: Int
  }

  private struct Owned: Aggregate {
    let id: OwnerID
    var hidden: [String: [Author]]
    var slot: Niche
    var shown: [Author] {
      get { hidden["a"] ?? [] }
      set { hidden["a"] = newValue }
    }
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.shown), .init(wrapper: \.slot)] }
  }

  private struct Crossing: Aggregate {
    let id: Int
    var others: [Crossing]
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.others)] }
  }
#else
  import Concord
  import Testing

  @Suite("Entities in no relation, in a release build")
  struct UnrelatedEntitiesTests {
    private struct Author: Identifiable { let id: Int }
    private struct Post: Identifiable {
      let id: Int
      var author: Author
    }

    private struct Strict: EntityStoreLogger {
      func didFindUnrelatedEntity<T: Identifiable>(in type: T.Type, at path: String, advice: String) {
        Issue.record("\(type).\(path) was looked at")
      }
    }

    @Test("Nobody looks for them")
    func nothing() {
      let store = EntityStore(delivery: .immediate, logger: Strict())
      let author = store.store(Author(id: 1))
      let post = store.store(Post(id: 1, author: Author(id: 1)))
      #expect(post.value.author.id == author.value.id)
    }
  }
#endif
