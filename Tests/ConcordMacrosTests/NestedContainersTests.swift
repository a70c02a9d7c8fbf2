#if Macros
  import ConcordMacros
  import Synchronization
  import Testing

  @Suite("Generated relations: what only the running program sees")
  struct NestedContainersTests {
    let store = EntityStore(delivery: .immediate)
    let ada = Author(id: "ada", name: "Ada")

    private var book: Book { Book(id: "notes", title: "Notes", author: ada) }

    private func rename() { store.update(Author.self, id: "ada") { $0.name = "Countess" } }

    @Test("An entity follows the store in containers of containers, in tuples and behind property wrappers")
    func everyPlace() {
      let wall = store.store(Wall(full: ada))
      #expect(wall.value.names == Array(repeating: "Ada", count: 22))
      rename()
      #expect(wall.value.names == Array(repeating: "Countess", count: 22))
      store.remove(Author.self, id: "ada")
      #expect(store.find(Wall.self, id: 1) == nil, "the tuple cannot do without her")
    }

    @Test("A generic parameter is an entity where it stands for one, whatever is declared of it")
    func openParameters() {
      let authors = store.store(Open(id: 1, item: ada, items: ["a": [ada]]))
      let numbers = store.store(Open(id: 1, item: 1, items: ["a": [1]]))
      rename()
      #expect(authors.value.item.name == "Countess" && authors.value.items["a"]?.first?.name == "Countess")
      #expect(numbers.value.item == 1)
      #expect(Open<Author>.fixedRelations?.count == 2 && Open<Int>.fixedRelations?.count == 0)
    }

    @Test("So is an associated type")
    func associatedTypes() {
      let loaded = store.store(Loaded<BookLoader>(id: 1, items: [book]))
      rename()
      #expect(loaded.value.items.first?.author.name == "Countess")
    }

    @Test("So is a payload")
    func payloads() {
      let choice = store.store(Choice(id: 1, one: .left(ada), many: ["a": .right([book])]))
      rename()
      #expect(choice.value.one.left?.name == "Countess")
      #expect(choice.value.many["a"]?.right?.first?.author.name == "Countess")
    }

    @Test("A wrapper that is Identifiable is one also where a generic type takes it for an entity")
    func identifiableWrapper() {
      let page = store.store(Page(id: 1, items: [Row.book(book), .header("A")], first: .book(book)))
      rename()
      #expect(page.value.items[0].book?.author.name == "Countess" && page.value.first?.book?.author.name == "Countess")
      #expect(store.find(Row.self, id: "notes") == nil)
    }

    #if DEBUG
      @Test("What is marked @EntityIgnored is not reported, and what no relation can lead to is")
      func reports() {
        let log = Paths()
        let store = EntityStore(delivery: .immediate, logger: log)
        let kept = store.store(ada)
        store.store(Sale(id: 1, sold: ada, wrapped: ada, part: Part(seller: ada), crate: Crate(content: nil), any: 1))
        #expect(log.all.isEmpty)
        store.store(
          Sale(id: 2, sold: ada, wrapped: ada, part: Part(seller: ada), crate: Crate(content: ada), any: [ada]))
        #expect(log.all == ["crate.content", "any[]"])
        withExtendedLifetime(kept) {}
      }
    #endif
  }

  private final class Paths: EntityStoreLogger {
    private let paths = Mutex<[String]>([])
    var all: [String] { paths.withLock { $0 } }
    func didFindUnrelatedEntity<T: Identifiable>(in type: T.Type, at path: String, advice: String) {
      paths.withLock { $0.append(path) }
    }
  }

  private struct Crate: Sendable { var content: Author? }

  @EntityWrapper private struct Part { @EntityIgnored let seller: Author }

  @Entity private struct Sale {
    let id: Int
    @EntityIgnored let sold: Author
    @EntityIgnored @Trimmed var wrapped: Author
    var part: Part
    var crate: Crate
    var any: any Sendable
  }

  @Entity private struct Open<Item: Sendable> {
    let id: Int
    var item: Item
    var items: [String: [Item]]
  }

  private protocol Loader: Sendable { associatedtype Item: Sendable }
  private struct BookLoader: Loader { typealias Item = Book }

  @Entity private struct Loaded<Source: Loader> {
    let id: Int
    var items: [Source.Item]
  }

  @EntityWrapper private enum Either<Left: Sendable, Right: Sendable> { case left(Left), right([Right]), none }

  @Entity private struct Choice {
    let id: Int
    var one: Either<Author, Book>
    var many: [String: Either<Author, Book>]
  }

  @EntityWrapper private enum Cell: Hashable { case author(Author), none }

  /// One property for each shape.
  @Entity private struct Wall {
    let id: Int
    var grid: [[Author]], shelves: [String: [Author]], gaps: [Author?], deep: Author??, maybe: [String: [Author]?]?
    var slices: [ArraySlice<Author>], sets: [Set<Author>], lines: ContiguousArray<[Author]>
    var cells: [String: Cell], cellSet: Set<Cell>, cellGaps: [Cell?], cellGrid: [[Cell]], deepCell: Cell??
    var pair: (Int, Author), named: (author: Author, rest: (Author?, [Author]))
    @Trimmed var wrapped: [[Author]]
    var (left, right): (Author?, [Author?]) = (nil, [])
    var inferred = [[Author]]()

    init(full author: Author) {
      (id, grid, shelves, gaps, deep, maybe) = (1, [[author]], ["a": [author]], [author, nil], author, ["a": [author]])
      (slices, sets, lines) = ([[author]], [[author]], [[author]])
      (cells, cellSet, cellGaps) = (["a": .author(author)], [.author(author)], [.author(author), nil])
      (cellGrid, deepCell) = ([[.author(author)]], .author(author))
      (pair, named) = ((1, author), (author, (author, [author])))
      _wrapped = Trimmed(wrappedValue: [[author]])
      (left, right, inferred) = (author, [author, nil], [[author], [author]])
    }

    var names: [String] {
      var all: [Author?] = grid.flatMap { $0 } + shelves.values.flatMap { $0 } + gaps + [deep ?? nil]
      all += (maybe ?? [:]).values.flatMap { $0 ?? [] } + slices.flatMap { $0 } + sets.flatMap { $0 }
      let cells = Array(self.cells.values) + cellSet + cellGaps.compactMap { $0 } + cellGrid.flatMap { $0 }
      all += (cells + [deepCell ?? nil].compactMap { $0 }).map(\.author) + [pair.1, named.author, named.rest.0, left]
      all += lines.flatMap { $0 } + named.rest.1 + wrapped.flatMap { $0 } + right + inferred.flatMap { $0 }
      return all.compactMap { $0?.name }
    }
  }
#endif
