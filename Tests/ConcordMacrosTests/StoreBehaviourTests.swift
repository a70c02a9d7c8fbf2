#if Macros
  import ConcordMacros
  import Testing

  @Suite("Generated entities in a store")
  struct StoreBehaviourTests {
    let store = EntityStore(delivery: .immediate)
    let ada = Author(id: "ada", name: "Ada")

    @Test("An entity follows the store at every place a property can give it")
    func everyPlace() {
      let shelf = store.store(Shelf(full: ada))
      #expect(shelf.value.names == Array(repeating: "Ada", count: 17))
      store.update(Author.self, id: "ada") { $0.name = "Ada Lovelace" }
      #expect(shelf.value.names == Array(repeating: "Ada Lovelace", count: 17))
    }

    @Test("An ignored property stays as it was written")
    func ignored() {
      let shelf = store.store(Shelf(full: ada))
      store.update(Author.self, id: "ada") { $0.name = "Ada Lovelace" }
      #expect(shelf.value.ignored?.name == "Ada")
      #expect(shelf.value.constant?.name == "Ada")
    }

    @Test("Exactly the properties that can hold entities are relations")
    func relations() {
      #expect(Author.fixedRelations?.count == 0)
      #expect(Review.fixedRelations?.count == 1)
      #expect(Book.fixedRelations?.count == 3)
      #expect(Shelf.fixedRelations?.count == 16)
      #expect(Page<Author>.fixedRelations?.count == 2)
      #expect(Shelf(full: ada).nestedEntitiesKeyPaths.count == 16)
    }

    @Test("A change deep down is seen through every level, and every level is told")
    func deep() {
      let review = Review(id: 1, text: "Good", reviewer: ada)
      let inner = Book(id: "inner", title: "Inner", author: ada, reviews: [review])
      let book = store.store(Book(id: "outer", title: "Outer", author: ada, related: ["sequel": inner]))
      let titles = Recorder<String?>()
      let subscription = book.observe { titles.append($0.related?["sequel"]?.reviews.first?.reviewer.name) }
      store.update(Review.self, id: 1) { $0.reviewer.name = "Countess" }
      #expect(book.value.author.name == "Countess")
      #expect(titles.all == ["Ada", "Countess"])
      subscription.unsubscribe()
    }

    @Test("Removing an entity takes it out of collections and optionals")
    func removing() {
      let grace = Author(id: "grace", name: "Grace")
      var shelf = Shelf(full: ada)
      shelf.one = grace
      let observer = store.store(shelf)
      store.remove(Author.self, id: "ada")
      let left = observer.value
      #expect(left.one == grace)
      #expect(left.maybe == nil && left.array.isEmpty && left.maybeArray == [] && left.slice.isEmpty)
      #expect(left.alias.isEmpty && left.set.isEmpty && left.dictionary.isEmpty && left.maybeDictionary == [:])
      #expect(left.media == .none && left.maybeMedia == .anonymous(nil))
      #expect(left.medias.first == .magazine("Weekly", editors: []))
      #expect(left.observed == nil && left.wrapped == nil && left.left == nil)
      #expect(left.ignored == ada && left.constant == ada)
    }

    @Test("Removing an entity that a property requires removes the aggregate")
    func removingRequired() {
      let book = Book(id: "notes", title: "Notes", author: ada)
      let observer = store.observer(Book.self, id: "notes")
      store.store(book)
      let kept = store.store(book)
      store.remove(Author.self, id: "ada")
      #expect(observer.value == nil)
      withExtendedLifetime(kept) {}
    }

    @Test("An observer of a property is written through it")
    func propertyObservers() {
      let shelf = store.store(Shelf(full: ada))
      store.update(Author.self, id: "ada") { $0.name = "Ada Lovelace" }
      #expect(shelf.value.changes == 1)
    }

    @Test("A generic aggregate follows its items, each instance of the generic its own")
    func generics() {
      let authors = store.store(Page(id: 1, items: [ada], first: ada))
      let books = store.store(Page(id: 1, items: [Book(id: "notes", title: "Notes", author: ada)], first: nil))
      store.update(Author.self, id: "ada") { $0.name = "Ada Lovelace" }
      #expect(authors.value.items.map(\.name) == ["Ada Lovelace"])
      #expect(authors.value.first?.name == "Ada Lovelace")
      #expect(books.value.items.map(\.author.name) == ["Ada Lovelace"])
    }

    @Test("The id of another property finds the entity")
    func otherIdentity() {
      let shelf = store.store(Shelf(full: ada))
      #expect(store.find(Shelf.self, id: 1)?.value.number == 1)
      #expect(shelf.value.id == 1)
    }
  }
#endif
