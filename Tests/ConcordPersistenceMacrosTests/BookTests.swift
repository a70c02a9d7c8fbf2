#if Macros
  import ConcordPersistence
  import ConcordPersistenceMacros
  import Foundation
  import Testing

  @PersistentEntity struct Author: Equatable {
    let id: String
    var name: String
  }

  @PersistentEntity struct Review: Equatable {
    let id: Int
    var text: String
  }

  // As the package's own introduction writes it.
  // swift-format-ignore
  @PersistentEntity struct Book: Equatable {              // does all that @Entity does, and describes its row
    let id: String
    @Attribute(originalName: "name") var title: String    // renamed: the old column is carried over
    @Attribute(.unique) var isbn: String?
    var published: Date
    var author: Author                                     // a reference, by id
    var reviews: [Review]                                  // ordered references
    @Transient var isSelected = false                      // not stored; needs a default
  }

  /// The books of an earlier program, which called the title a name.
  @PersistentEntity struct EarlierBook {
    static let entityName = "Book"
    let id: String
    var name: String
    var isbn: String?
    var published: Date
    var author: Author
    var reviews: [Review]
  }

  @Suite("A book, as the introduction declares it")
  struct BookTests {
    let austen = Author(id: "austen", name: "Jane Austen")

    func emma(isbn: String? = nil, isSelected: Bool = false) -> Book {
      Book(
        id: "emma", title: "Emma", isbn: isbn, published: Date(timeIntervalSinceReferenceDate: -0.1), author: austen,
        reviews: [Review(id: 2, text: "Good"), Review(id: 1, text: "Better"), Review(id: 2, text: "Good")],
        isSelected: isSelected)
    }

    @Test(
      "It comes back as it went in, with references in order, and without what is transient",
      arguments: Storage.allCases)
    func roundTrip(_ storage: Storage) throws {
      try storage.withContainer([Book.self, Author.self, Review.self]) { container in
        let context = container.newBackgroundContext()
        context.insert(emma(isbn: "1", isSelected: true))
        try context.save()
        #expect(try container.newBackgroundContext().find(Book.self, id: "emma") == emma(isbn: "1"))
        #expect(try container.newBackgroundContext().fetch(FetchDescriptor<Author>()) == [austen])
        #expect(try container.viewContext.find(Book.self, id: "emma")?.value == emma(isbn: "1"))
      }
    }

    @Test("Two books with one number are a typed error, and nothing is saved", arguments: Storage.allCases)
    func uniqueness(_ storage: Storage) throws {
      try storage.withContainer([Book.self, Author.self, Review.self]) { container in
        let context = container.newBackgroundContext()
        context.insert(emma(isbn: "1"))
        try context.save()
        var other = emma(isbn: "1")
        other = Book(
          id: "other", title: other.title, isbn: other.isbn, published: other.published, author: austen, reviews: [])
        context.insert(other)
        var message: String?
        do { try context.save() } catch StoreError.notUnique("Book", let columns) { message = columns }
        #expect(message == "isbn")
        #expect(try container.newBackgroundContext().count(FetchDescriptor<Book>()) == 1)
        // None is no number.
        try context.update(Book.self, id: "other") { $0.isbn = nil }
        try context.update(Book.self, id: "emma") { $0.isbn = nil }
        try context.save()
        #expect(try container.newBackgroundContext().count(FetchDescriptor<Book>()) == 2)
      }
    }

    @Test("It is one truth with its author, in a store in memory, too")
    func entity() {
      let store = EntityStore()
      let book = store.store(emma(isSelected: true))
      store.update(Author.self, id: "austen") { $0.name = "J. Austen" }
      #expect(book.value.author.name == "J. Austen")
      #expect(book.value.isSelected)
    }

    #if Persistence
      @Test("What was called otherwise is carried over")
      func renamed() throws {
        try withFolder { folder in
          let before = Container(
            name: "Library", model: try Model("Before", entities: [EarlierBook.self, Author.self, Review.self]))
          let store = try before.attachPersistentStore(at: folder)
          let context = before.newBackgroundContext()
          let new = emma()
          context.insert(
            EarlierBook(
              id: new.id, name: new.title, published: new.published, author: new.author, reviews: new.reviews))
          try context.save()
          try before.detach(persistentStore: store)
          let after = Container(
            name: "Library", model: try Model("After", entities: [Book.self, Author.self, Review.self]))
          try after.attachPersistentStore(at: folder)
          #expect(try after.newBackgroundContext().find(Book.self, id: "emma") == new)
          try after.detach(persistentStores: after.persistentStores)
        }
      }
    #endif
  }
#endif
