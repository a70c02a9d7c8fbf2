#if canImport(Combine) || OpenCombine
  import Concord
  import ConcordCombine
  import Dispatch
  import Testing

  @Suite("Storing what a publisher gives")
  struct StoringTests {
    let entityStore = EntityStore(delivery: .immediate)

    private struct Failed: Error {}

    @Test("Entities are stored, and published as the store has them")
    func entities() {
      let source = PassthroughSubject<Book, Never>()
      let received = Received<String>()
      let cancellable = source.store(in: entityStore).sink { received.append($0.title) }
      source.send(Book(id: "a", title: "1"))
      entityStore.update(Book.self, id: "a") { $0.title = "2" }
      source.send(Book(id: "b", title: "3"))
      #expect(entityStore.find(Book.self, id: "a") == nil)
      entityStore.update(Book.self, id: "b") { $0.title = "4" }
      #expect(received.all == ["1", "2", "3", "4"])
      cancellable.cancel()
      #expect(entityStore.find(Book.self, id: "b") == nil)
    }

    @Test("An alias is pointed at what comes")
    func alias() {
      let cancellable = Just(Book(id: "a", title: "1")).store(in: entityStore, named: .featured).sink { _ in }
      #expect(entityStore.find(named: .featured).value?.title == "1")
      cancellable.cancel()
      #expect(entityStore.find(named: .featured).value?.title == "1")
    }

    @Test("A stale entity is published as the fresher one that the store has")
    func stamp() {
      let observer = entityStore.store(Book(id: "a", title: "fresh"), modifiedAt: 10)
      let received = Received<String>()
      let cancellable = Just(Book(id: "a", title: "stale")).store(in: entityStore, named: nil, modifiedAt: 5)
        .sink { received.append($0.title) }
      #expect(received.all == ["fresh"])
      #expect(observer.value.title == "fresh")
      cancellable.cancel()
    }

    @Test("Without a stamp, each value gets its own")
    func unstamped() {
      let source = PassthroughSubject<Book, Never>()
      let cancellable = source.store(in: entityStore).sink { _ in }
      source.send(Book(id: "a", title: "1"))
      source.send(Book(id: "a", title: "2"))
      #expect(entityStore.find(Book.self, id: "a")?.value.title == "2")
      cancellable.cancel()
    }

    @Test("Aggregates are stored with all they contain")
    func aggregates() {
      let received = Received<AuthorBooks>()
      let aggregate = AuthorBooks(author: Author(id: 1, name: "Ada"), books: [Book(id: "a", title: "1")])
      let cancellable = Just(aggregate).store(in: entityStore).sink { received.append($0) }
      entityStore.update(Book.self, id: "a") { $0.title = "2" }
      #expect(received.all.map(\.books[0].title) == ["1", "2"])
      cancellable.cancel()
      #expect(entityStore.find(Author.self, id: 1) == nil)
    }

    @Test("Collections are stored and followed, with and without a name")
    func collections() {
      let received = (Received<[String]>(), Received<[String]>(), Received<[String]>())
      let books = [Book(id: "a", title: "1"), Book(id: "b", title: "2")]
      let named = Just(books).store(in: entityStore, named: .favourites, modifiedAt: 3)
        .sink { received.0.append($0.map(\.title)) }
      let unnamed = Just(books).store(in: entityStore).sink { received.1.append($0.map(\.title)) }
      let set = Just(AuthorBooks(author: Author(id: 1, name: "Ada"), books: books)).map { [$0] }.store(in: entityStore)
        .sink { received.2.append($0.flatMap(\.books).map(\.title)) }
      entityStore.update(Book.self, id: "b") { $0.title = "3" }
      #expect(received.0.all == [["1", "2"], ["1", "3"]])
      #expect(received.1.all == [["1", "2"], ["1", "3"]])
      #expect(received.2.all == [["1", "2"], ["1", "3"]])
      #expect(entityStore.find(named: .favourites).value?.count == 2)
      for cancellable in [named, unnamed, set] { cancellable.cancel() }
    }

    @Test("A failure comes through, and ends following")
    func failure() {
      let source = PassthroughSubject<Book, Failed>()
      let received = Received<String>()
      let cancellable = source.store(in: entityStore).sink(
        receiveCompletion: { if case .failure = $0 { received.append("failed") } },
        receiveValue: { received.append($0.title) })
      source.send(Book(id: "a", title: "1"))
      source.send(completion: .failure(Failed()))
      entityStore.update(Book.self, id: "a") { $0.title = "2" }
      #expect(received.all == ["1", "failed"])
      cancellable.cancel()
    }

    @Test("When the publisher has finished, the store is still followed")
    func finished() {
      let received = Received<String>()
      let cancellable = Just(Book(id: "a", title: "1")).store(in: entityStore).sink { received.append($0.title) }
      entityStore.update(Book.self, id: "a") { $0.title = "2" }
      #expect(received.all == ["1", "2"])
      cancellable.cancel()
    }

    @Test("All values come on the store's queue, the first one and that of the next entity, too")
    func queue() async {
      let queue = DispatchQueue(label: "store")
      let store = EntityStore(queue: queue)
      let source = PassthroughSubject<Book, Never>()
      let received = (Received<String>(), Received<[String]>())
      let one = source.store(in: store).sink { book in
        dispatchPrecondition(condition: .onQueue(queue))
        received.0.append(book.title)
      }
      let many = source.map { [$0] }.store(in: store, named: .favourites).sink { books in
        dispatchPrecondition(condition: .onQueue(queue))
        received.1.append(books.map(\.title))
      }
      source.send(Book(id: "a", title: "1"))
      await store.settled()
      store.update(Book.self, id: "a") { $0.title = "2" }
      await store.settled()
      source.send(Book(id: "b", title: "3"))
      await store.settled()
      #expect(received.0.all == ["1", "2", "3"])
      #expect(received.1.all == [["1"], ["2"], ["3"]])
      one.cancel()
      many.cancel()
    }

    @Test("Cancelled before the first value's turn, nothing comes")
    func cancelled() async {
      let queue = DispatchQueue(label: "store")
      let store = EntityStore(queue: queue)
      let received = Received<String>()
      queue.suspend()
      let cancellable = Just(Book(id: "a", title: "1")).store(in: store).sink { received.append($0.title) }
      cancellable.cancel()
      queue.resume()
      await store.settled()
      #expect(received.all == [])
      #expect(store.find(Book.self, id: "a") == nil)
    }
  }
#endif
