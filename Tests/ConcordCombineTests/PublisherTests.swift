#if canImport(Combine) || OpenCombine
  import Concord
  import ConcordCombine
  import Dispatch
  import Testing

  @Suite("Publishers")
  struct PublisherTests {
    let entityStore = EntityStore(delivery: .immediate)

    @Test("A publisher gives the current value at once, and then each new one")
    func values() {
      let observer = entityStore.store(Book(id: "a", title: "1"))
      let received = Received<String>()
      let cancellable = observer.asPublisher.sink { received.append($0.title) }
      #expect(received.all == ["1"])
      entityStore.update(Book.self, id: "a") { $0.title = "2" }
      entityStore.update(Book.self, id: "a") { $0.title = "2" }
      entityStore.store(Book(id: "a", title: "3"))
      #expect(received.all == ["1", "2", "3"])
      cancellable.cancel()
      entityStore.update(Book.self, id: "a") { $0.title = "4" }
      #expect(received.all == ["1", "2", "3"])
    }

    @Test("The publisher alone keeps the entity alive, then its subscription does, until it is cancelled")
    func lifetime() {
      var publisher: AnyPublisher<Book, Never>? = entityStore.store(Book(id: "a", title: "1")).asPublisher
      #expect(entityStore.find(Book.self, id: "a") != nil)
      let cancellable = publisher?.sink { _ in }
      publisher = nil
      #expect(entityStore.find(Book.self, id: "a") != nil)
      cancellable?.cancel()
      #expect(entityStore.find(Book.self, id: "a") == nil)
    }

    @Test("A subscription that is dropped releases the entity")
    func dropped() {
      var cancellables: Set<AnyCancellable> = []
      entityStore.store(Book(id: "a", title: "1")).asPublisher.sink { _ in }.store(in: &cancellables)
      #expect(entityStore.find(Book.self, id: "a") != nil)
      cancellables.removeAll()
      #expect(entityStore.find(Book.self, id: "a") == nil)
    }

    @Test("Nothing is sent without demand, and the newest value when there is some")
    func demand() {
      let observer = entityStore.store(Book(id: "a", title: "1"))
      let subscriber = Manual<Book>()
      observer.asPublisher.subscribe(subscriber)
      #expect(subscriber.received.isEmpty)
      entityStore.update(Book.self, id: "a") { $0.title = "2" }
      entityStore.update(Book.self, id: "a") { $0.title = "3" }
      subscriber.subscription?.request(.max(2))
      #expect(subscriber.received.map(\.title) == ["3"])
      entityStore.update(Book.self, id: "a") { $0.title = "4" }
      entityStore.update(Book.self, id: "a") { $0.title = "5" }
      #expect(subscriber.received.map(\.title) == ["3", "4"])
      subscriber.more = .max(1)
      subscriber.subscription?.request(.max(1))
      entityStore.update(Book.self, id: "a") { $0.title = "6" }
      entityStore.update(Book.self, id: "a") { $0.title = "7" }
      #expect(subscriber.received.map(\.title) == ["3", "4", "5", "6"])
      subscriber.subscription?.cancel()
      subscriber.subscription?.request(.unlimited)
      entityStore.update(Book.self, id: "a") { $0.title = "8" }
      #expect(subscriber.received.count == 4)
    }

    @Test("A subscriber may cancel when it receives the subscription, or a value")
    func cancelWithin() {
      let observer = entityStore.store(Book(id: "a", title: "1"))
      let early = Manual<Book>()
      early.onSubscription = { $0.cancel() }
      observer.asPublisher.subscribe(early)
      #expect(early.received.isEmpty)
      let received = Received<String>()
      let cancellable = observer.asPublisher.prefix(2).sink { received.append($0.title) }
      for title in ["2", "3", "4"] { entityStore.update(Book.self, id: "a") { $0.title = title } }
      #expect(received.all == ["1", "2"])
      _ = cancellable
    }

    @Test("A subscriber may write to the store")
    func writeWithin() {
      let observer = entityStore.store(Book(id: "a", title: "1"))
      let received = Received<String>()
      let store = entityStore
      let cancellable = observer.asPublisher.sink { book in
        received.append(book.title)
        if book.title.count < 4 { store.update(Book.self, id: "a") { $0.title += "1" } }
      }
      #expect(received.all == ["1", "11", "111", "1111"])
      cancellable.cancel()
    }

    @Test("Each subscriber of a publisher has its own subscription")
    func severalSubscribers() {
      let publisher = entityStore.store(Book(id: "a", title: "1")).asPublisher
      let received = [Received<String>(), Received<String>()]
      let first = publisher.sink { received[0].append($0.title) }
      entityStore.update(Book.self, id: "a") { $0.title = "2" }
      let second = publisher.sink { received[1].append($0.title) }
      first.cancel()
      entityStore.update(Book.self, id: "a") { $0.title = "3" }
      #expect(received[0].all == ["1", "2"])
      #expect(received[1].all == ["2", "3"])
      second.cancel()
    }

    @Test("Observers of optionals and collections publish, too")
    func otherObservers() {
      let received = (Received<String?>(), Received<[String]>())
      let waiting = entityStore.observer(Book.self, id: "a").asPublisher.sink { received.0.append($0?.title) }
      let books = entityStore.store([Book(id: "b", title: "b")], named: .favourites).asPublisher
        .sink { received.1.append($0.map(\.title)) }
      entityStore.store(Book(id: "a", title: "1"))
      entityStore.update(Book.self, id: "b") { $0.title = "B" }
      #expect(received.0.all == [nil, "1"])
      #expect(received.1.all == [["b"], ["B"]])
      waiting.cancel()
      books.cancel()
    }

    @Test("Values come on the store's queue")
    func queue() async {
      let queue = DispatchQueue(label: "store")
      let store = EntityStore(queue: queue)
      let observer = store.store(Book(id: "a", title: "1"))
      let received = Received<String>()
      let cancellable = observer.asPublisher.dropFirst().sink { book in
        dispatchPrecondition(condition: .onQueue(queue))
        received.append(book.title)
      }
      store.update(Book.self, id: "a") { $0.title = "2" }
      queue.sync {}
      #expect(received.all == ["2"])
      cancellable.cancel()
    }

    @Test("Threads that write and request leave nothing out, and never overlap")
    func threads() {
      let observer = entityStore.store(Book(id: "a", title: "0"))
      let subscriber = Manual<Book>()
      observer.asPublisher.subscribe(subscriber)
      let store = entityStore
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for round in 0..<200 {
          if thread == 0 {
            store.update(Book.self, id: "a") { $0.title = "\(round)" }
          } else {
            subscriber.subscription?.request(.max(1))
          }
        }
      }
      #expect(subscriber.received.last?.title == "199")
      #expect(subscriber.overlaps == 0)
    }
  }

  /// A subscriber that demands what a test tells it to.
  private final class Manual<Input>: Subscriber, @unchecked Sendable {
    typealias Failure = Never

    private(set) var subscription: (any ConcordCombineSubscription)?
    private(set) var received: [Input] = []
    private(set) var overlaps = 0
    private var isReceiving = false
    var more = Subscribers.Demand.none
    var onSubscription: (any ConcordCombineSubscription) -> Void = { _ in }

    func receive(subscription: any ConcordCombineSubscription) {
      self.subscription = subscription
      onSubscription(subscription)
    }

    func receive(_ input: Input) -> Subscribers.Demand {
      if isReceiving { overlaps += 1 }
      isReceiving = true
      received.append(input)
      isReceiving = false
      defer { more = .none }
      return more
    }

    func receive(completion: Subscribers.Completion<Never>) {}
  }

  // `Subscription` alone could be the store's.
  #if canImport(Combine)
    private typealias ConcordCombineSubscription = Combine.Subscription
  #else
    private typealias ConcordCombineSubscription = OpenCombine.Subscription
  #endif
#endif
