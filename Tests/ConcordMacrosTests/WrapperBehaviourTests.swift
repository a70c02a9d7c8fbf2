#if Macros
  import ConcordMacros
  import Testing

  @Suite("Generated wrappers")
  struct WrapperBehaviourTests {
    let ada = Author(id: "ada", name: "Ada")
    let grace = Author(id: "grace", name: "Grace")

    private var book: Book { Book(id: "notes", title: "Notes", author: ada) }

    @Test("An accessor shows the payload of its own case only")
    func getting() {
      #expect(Media.book(book).book == book)
      #expect(Media.none.book == nil)
      #expect(Media.letter(from: ada, to: grace).letterFrom == ada)
      #expect(Media.letter(from: ada, to: grace).letterTo == grace)
      #expect(Media.magazine("Weekly", editors: [ada]).magazine0 == "Weekly")
      #expect(Media.magazine("Weekly", editors: [ada]).magazineEditors == [ada])
      #expect(Media.anonymous(ada).anonymous == ada)
      #expect(Media.anonymous(nil).anonymous == nil)
    }

    @Test("Setting a payload makes the value that case")
    func setting() {
      var media = Media.none
      media.book = book
      #expect(media == .book(book))
      media.anonymous = ada
      #expect(media == .anonymous(ada))
    }

    @Test("One of several payloads is set only where the others are")
    func settingOneOfSeveral() {
      var media = Media.letter(from: ada, to: grace)
      media.letterTo = ada
      #expect(media == .letter(from: ada, to: ada))
      media.magazineEditors = [grace]
      #expect(media == .letter(from: ada, to: ada))
    }

    @Test(
      "An entity is followed in a case whose name a property of another type has, and in a property with quotation marks"
    )
    func takenNames() {
      let store = EntityStore(delivery: .immediate)
      let card = store.store(Card(id: 1, caption: .book(book), `a "quoted"́ one`: grace))
      store.update(Book.self, id: book.id) { $0.title = "Sketch" }
      store.update(Author.self, id: grace.id) { $0.name = "Grace H." }
      var changed = book
      changed.title = "Sketch"
      #expect(card.value.caption == .book(changed))
      #expect(card.value.caption.book == "a book")
      #expect(card.value.`a "quoted"́ one`?.name == "Grace H.")
    }

    @Test("nil leaves other cases alone, and empties its own if that is possible")
    func settingNil() {
      var media = Media.book(book)
      media.letterFrom = nil
      media.anonymous = nil
      #expect(media == .book(book))
      media.book = nil
      #expect(media == .none)
      media = .letter(from: ada, to: grace)
      media.letterFrom = nil
      #expect(media == .none)
      media = .anonymous(ada)
      media.anonymous = nil
      #expect(media == .anonymous(nil))
      var gift = Gift.book(book)
      gift.book = nil
      #expect(gift == .book(book))
    }

    @Test("Removing an entity that a wrapper cannot leave out removes the parent")
    func required() {
      let store = EntityStore(delivery: .immediate)
      let order = store.store(Order(id: 1, gift: .book(book), extras: []))
      let waiting = store.observer(Order.self, id: 1)
      store.remove(Book.self, id: "notes")
      #expect(waiting.value == nil)
      withExtendedLifetime(order) {}
    }

    @Test("In a collection that can shrink, such a wrapper goes alone")
    func requiredInCollection() {
      let store = EntityStore(delivery: .immediate)
      let order = store.store(Order(id: 1, gift: .voucher(5), extras: [.book(book), .voucher(10)]))
      store.remove(Book.self, id: "notes")
      #expect(order.value.extras == [.voucher(10)])
    }

    @Test("A wrapper that is Identifiable is a wrapper, at every place")
    func identifiable() {
      let store = EntityStore(delivery: .immediate)
      let list = store.store(
        List(id: 1, first: .book(book), maybe: .book(book), rows: [.header("A"), .book(book)], more: [.book(book)]))
      #expect(List.fixedRelations?.count == 4)
      #expect(store.find(Row.self, id: "notes") == nil)
      store.update(Author.self, id: "ada") { $0.name = "Ada Lovelace" }
      let rows = [list.value.first, list.value.maybe ?? .none] + list.value.rows + list.value.more
      #expect(rows.compactMap { $0.book?.author.name } == Array(repeating: "Ada Lovelace", count: 4))
      store.remove(Book.self, id: "notes")
      #expect(list.value.rows == [Row.header("A"), Row.none])
    }

    @Test("Cases that only their labels tell apart are told apart")
    func overloaded() {
      var credit = Credit.by(author: ada)
      #expect(credit.byAuthor == ada)
      #expect(credit.byEditor == nil && credit.by1 == nil && credit.by0 == nil)
      credit.byEditor = grace
      #expect(credit == .by(author: ada))
      credit = .by(editor: ada, 5)
      credit.byEditor = grace
      #expect(credit == .by(editor: grace, 5))
      #expect(credit.by1 == 5)
      credit.byAuthor = nil
      #expect(credit == .by(editor: grace, 5))
      credit.byEditor = nil
      #expect(credit == .none)
      credit = .by(book)
      #expect(credit.by0 == book)
      let store = EntityStore(delivery: .immediate)
      let work = store.store(Work(id: 1, credits: [.by(author: ada), .by(editor: ada, 1), .by(book)]))
      store.update(Author.self, id: "ada") { $0.name = "Ada Lovelace" }
      let names = work.value.credits.map { $0.byAuthor?.name ?? $0.byEditor?.name ?? $0.by0?.author.name }
      #expect(names == Array(repeating: "Ada Lovelace", count: 3))
    }

    @Test("Equal sets and dictionaries in a wrapper, built in another order, notify nobody")
    func otherOrder() {
      let calls = callsForEqualCatalogues { Catalogue(id: 1, index: $0, more: [$0], maybe: $0) }
      #expect(calls == [50])
    }

    @Test("In a value that cannot be compared, which counts as another each time, they are told")
    func otherOrderWithoutEquality() {
      let calls = callsForEqualCatalogues { Collection(id: 1, index: $0, more: [$0], maybe: $0) }
      #expect(calls == [50, 50, 50])
    }

    /// What an observer is told of three equal values whose sets and dictionaries were built in different orders.
    private func callsForEqualCatalogues<T: Indexed>(_ make: (Index) -> T) -> [Int] where T.ID == Int {
      let store = EntityStore(delivery: .immediate)
      let authors = (0..<50).map { Author(id: "\($0)", name: "\($0)") }
      func catalogue(_ authors: [Author], capacity: Int) -> T {
        var index = Index(set: [], dictionary: [:])
        index.set.reserveCapacity(capacity)
        index.dictionary.reserveCapacity(capacity)
        for author in authors {
          index.set.insert(author)
          index.dictionary[Int(author.id) ?? 0] = author
        }
        return make(index)
      }
      let observer = store.store(catalogue(authors, capacity: 50))
      let calls = Recorder<Int>()
      let subscription = observer.observe { calls.append($0.index.set.count) }
      store.store(catalogue(authors.reversed(), capacity: 1000))
      store.store(catalogue(authors.shuffled(), capacity: 200))
      subscription.unsubscribe()
      return calls.all
    }

    @Test("A wrapper in a wrapper, and a struct as one, are followed")
    func nested() {
      let store = EntityStore(delivery: .immediate)
      let parcel = Parcel(
        id: 1, content: .both(.gift(.book(book)), .box(Box(label: "Box", authors: [ada], inner: [.book(book)]))))
      let observer = store.store(parcel)
      store.update(Author.self, id: "ada") { $0.name = "Ada Lovelace" }
      #expect(observer.value.content.both0?.gift?.book?.author.name == "Ada Lovelace")
      #expect(observer.value.content.both1?.box?.authors.map(\.name) == ["Ada Lovelace"])
      #expect(observer.value.content.both1?.box?.inner.first?.book?.author.name == "Ada Lovelace")
    }
  }

  @Entity private struct List {
    let id: Int
    var first: Row
    var maybe: Row?
    var rows: [Row]
    var more: ContiguousArray<Row>
  }

  @Entity private struct Work {
    let id: Int
    var credits: [Credit]
  }

  private protocol Indexed: Aggregate { var index: Index { get } }

  @Entity private struct Catalogue: Indexed, Equatable {
    let id: Int
    var index: Index
    var more: [Index]
    var maybe: Index?
  }

  /// Not `Equatable`, so that the store cannot know that two of them are the same.
  @Entity private struct Collection: Indexed {
    let id: Int
    var index: Index
    var more: [Index]
    var maybe: Index?
  }

  @Entity private struct Order {
    let id: Int
    var gift: Gift
    var extras: [Gift]
  }

  @Entity private struct Parcel {
    let id: Int
    var content: Content
  }

  @EntityWrapper private indirect enum Content {
    case gift(Gift)
    case box(Box)
    case both(Content, Content)
  }

  @EntityWrapper private struct Box {
    var label: String
    var authors: [Author]
    var inner: [Gift]
  }
#endif
