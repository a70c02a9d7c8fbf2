#if os(Linux) || os(macOS)
  import Testing

  /// What a screen and an actor write to follow an entity, as they would write it.
  @Suite("observe in an actor compiles, in Swift 5 and in Swift 6 mode", .enabled(if: SwiftCompiler.modules != nil))
  struct ObserveIsolationCompileTests {
    private static let modes: [[String]] = [
      ["-swift-version", "6"], ["-swift-version", "5"],
      ["-swift-version", "5", "-strict-concurrency=complete", "-enable-upcoming-feature", "InferSendableFromCaptures"],
      ["-swift-version", "6", "-default-isolation", "MainActor"],
      ["-swift-version", "6", "-enable-upcoming-feature", "NonisolatedNonsendingByDefault"],
    ]

    private static let book = """
      nonisolated struct Book: Identifiable, Equatable, Sendable {
        let id: String
        var title: String
      }

      """

    /// What is accepted without a word.
    private static let accepted: [(name: String, source: String)] = [
      (
        "a class on the main actor, weakly",
        """
        @MainActor final class Screen {
          var title = ""
          var subscription: Subscription?
          func show(_ observer: EntityObserver<Book>) {
            subscription = observer.observe { [weak self] in self?.title = $0.title }
          }
        }
        """
      ),
      (
        "a class on the main actor, strongly, with several statements",
        """
        @MainActor final class Screen {
          var titles: [String] = []
          var subscription: Subscription?
          func render() {}
          init(_ store: EntityStore) {
            subscription = store.find(Book.self, id: "A")?.observe { book in
              self.titles.append(book.title)
              self.render()
            }
          }
        }
        """
      ),
      (
        "a part, and an optional entity, on the main actor",
        """
        @MainActor final class Screen {
          var title = ""
          var subscriptions: [Subscription] = []
          func show(_ store: EntityStore, _ observer: EntityObserver<Book>) {
            subscriptions.append(observer.observe(\\.title) { [weak self] in self?.title = $0 })
            subscriptions.append(store.observer(Book.self, id: "A").observe { [weak self] in self?.title = $0?.title ?? "" })
          }
        }
        """
      ),
      (
        "the explicit form",
        """
        @MainActor final class Screen {
          var title = ""
          var subscription: Subscription?
          func show(_ observer: EntityObserver<Book>) {
            subscription = observer.observe(on: MainActor.shared) { [weak self] in self?.title = $0.title }
          }
        }
        """
      ),
      (
        // A closure that captures its actor weakly belongs to nobody: such is the language.
        "an actor, strongly",
        """
        actor Shelf {
          var titles: [String] = []
          var subscriptions: [Subscription] = []
          func follow(_ observer: EntityObserver<Book>) {
            subscriptions.append(observer.observe { self.titles.append($0.title) })
            subscriptions.append(observer.observe(\\.title) { self.titles.append($0) })
          }
        }
        """
      ),
      (
        "a global actor of one's own",
        """
        @globalActor actor Disk { static let shared = Disk() }
        @Disk final class Index {
          var titles: [String] = []
          var subscription: Subscription?
          func follow(_ observer: EntityObserver<Book>) {
            subscription = observer.observe { [weak self] in self?.titles.append($0.title) }
          }
        }
        """
      ),
      (
        "nobody's thread",
        """
        nonisolated func follow(_ observer: EntityObserver<Book>) -> Subscription {
          observer.observe { book in print(book.title) }
        }
        """
      ),
      (
        "a Sendable closure made elsewhere",
        """
        nonisolated func follow(
          _ observer: EntityObserver<Book>, _ onChange: @escaping @Sendable (Book) -> Void
        ) -> Subscription { observer.observe(onChange: onChange) }
        """
      ),
    ]

    @Test("What one would write compiles without a word", arguments: accepted.indices, modes)
    func accepts(index: Int, mode: [String]) throws {
      let (name, source) = Self.accepted[index]
      let (status, message) = try SwiftCompiler.check(Self.book + source, mode)
      #expect(status == 0 && !message.contains("warning:"), "\(name), \(mode): \(message)")
    }

    /// What would be a race.
    private static let refused: [(name: String, source: String)] = [
      (
        "state of the main actor from nobody's thread",
        """
        @MainActor final class Screen { var title = "" }
        nonisolated func follow(_ observer: EntityObserver<Book>, _ screen: Screen) -> Subscription {
          observer.observe { screen.title = $0.title }
        }
        """
      ),
      (
        "a variable that the closure shares with its surroundings",
        """
        nonisolated func follow(_ observer: EntityObserver<Book>) -> Int {
          var count = 0
          let subscription = observer.observe { _ in count += 1 }
          subscription.unsubscribe()
          return count
        }
        """
      ),
      (
        "an object that is not Sendable, from nobody's thread",
        """
        final class Cache { var title = "" }
        nonisolated func follow(_ observer: EntityObserver<Book>, _ cache: Cache) -> Subscription {
          observer.observe { cache.title = $0.title }
        }
        """
      ),
    ]

    @Test("Aliases of several types may have one name, without a word of the compiler")
    func aliasesOfOneName() throws {
      let source = """
        struct Shelf: Aggregate {
          let id: String
          var books: [Book]
          var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\\.books)] }
        }
        extension AliasKey where T == Book { static let current = AliasKey("current") }
        extension AliasKey where T == Shelf { static let current = AliasKey("current") }
        extension AliasKey where T == [Book] { static let current = AliasKey("current") }
        func keep(_ store: EntityStore, _ book: Book, _ shelf: Shelf, _ name: AliasKey<Book>?) {
          store.store(book, named: .current)
          store.store(book, named: .current, modifiedAt: 1) { $0.title = "" }
          store.store(book, named: .current, merging: .ifPresent)
          store.store(book, named: name)
          store.store(book, named: nil)
          store.store(book, named: "current")
          store.store(shelf, named: .current)
          store.store(shelf, named: .current, modifiedAt: 1) { $0.books = [] }
          store.store([book], named: .current)
          store.store(entity: book, named: .current)
          store.store(entities: [book], named: .current)
        }
        """
      let (status, message) = try SwiftCompiler.check(Self.book + source)
      #expect(status == 0 && message.isEmpty, "\(message)")
    }

    @Test("What would be a race does not compile", arguments: refused.indices)
    func refuses(index: Int) throws {
      let (name, source) = Self.refused[index]
      let (status, message) = try SwiftCompiler.check(Self.book + source)
      #expect(status != 0, "\(name): \(message)")
    }
  }
#endif
