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
