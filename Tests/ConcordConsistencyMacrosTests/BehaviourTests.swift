#if Macros
  import ConcordConsistencyMacros
  import Testing

  @Suite("Generated objects merge")
  struct BehaviourTests {
    let ada = Author(id: "ada", name: "Ada")
    let countess = Author(id: "ada", name: "Countess")

    @Test("A merge reaches every place, and no ignored one")
    func everyPlace() {
      let shelf = Shelf(full: ada).updated(with: countess)
      #expect(shelf.names == Array(repeating: "Countess", count: 17))
      #expect(shelf.ignored?.name == "Ada")
      #expect(shelf.constant?.name == "Ada")
    }

    @Test("An object of another type contributes what the two share")
    func sharedParts() {
      let book = Book(id: "notes", title: "Notes", author: ada)
      let review = Review(id: 1, text: "Good", reviewer: countess)
      #expect(book.updated(with: review).author.name == "Countess")
      #expect(book.updated(with: Review(id: 1, text: "Good", reviewer: Author(id: "eve", name: "Eve"))) == book)
    }

    @Test("Properties are listed under their names, and set by them")
    func properties() {
      let book = Book(id: "notes", title: "Notes", author: ada)
      #expect(book.properties.map(\.label) == ["id", "title", "author", "reviews", "related"])
      #expect(book.setting(property: ("title", "Sketches")).title == "Sketches")
      #expect(book.setting(property: ("author", countess)).author == countess)
      let related = book.setting(property: ("related", ["sequel": book]))
      #expect(related.related == ["sequel": book])
      #expect(related.setting(property: ("related", nil)).related == nil)
    }

    @Test("What a property cannot take leaves the object as it is")
    func wrongValues() {
      let book = Book(id: "notes", title: "Notes", author: ada)
      #expect(book.setting(property: ("title", 5)) == book)
      #expect(book.setting(property: ("title", nil)) == book)
      #expect(book.setting(property: ("id", "other")) == book)
      #expect(book.setting(property: ("price", 5)) == book)
    }

    @Test("The id is text to a manager, whatever its type")
    func identity() {
      let review: any ConsistentObject = Review(id: 7, text: "Good", reviewer: ada)
      #expect(review.id == "7")
      let shelf: any ConsistentObject = Shelf(full: ada)
      #expect(shelf.id == "1")
      #expect((ada as any ConsistentObject).id == "ada")
    }

    @Test("What no store knows merges, too")
    func withoutStore() {
      let draft = Draft(id: 1, title: "Draft", author: ada)
      #expect(draft.updated(with: countess).author.name == "Countess")
      #expect(draft.updated(with: Draft(id: 1, title: "Final", author: countess)).title == "Final")
      #expect((draft as any ConsistentObject).id == "1")
    }

    @Test("An enum without accessors merges what it holds")
    func withoutAccessors() {
      let book = Book(id: "notes", title: "Notes", author: ada)
      #expect(Note(id: 1, topic: .author(ada)).updated(with: countess).topic == .author(countess))
      let books = Note(id: 1, topic: .books([book], count: 1)).updated(with: countess)
      #expect(books.topic == .books([Book(id: "notes", title: "Notes", author: countess)], count: 1))
      #expect(Note(id: 1, topic: .none).updated(with: countess).topic == .none)
    }

    @Test("A property of the user's called properties keeps its name, and one called setting too")
    func takenNames() {
      let agent = Agent(id: 1, author: ada)
      #expect(agent.properties == ["a house"])
      #expect(agent.setting(5) == 5)
      #expect((agent as any ConsistentObject).properties.map(\.label) == ["id", "author"])
      #expect((agent.setting(property: ("author", countess))).author == countess)
      #expect(agent.updated(with: countess).author == countess)
      let landlord = Landlord(id: 1, properties: [ada])
      #expect(landlord.updated(with: countess).properties == [countess])
      #expect((landlord as any ConsistentObject).setting(property: ("properties", [countess])) as? Landlord != landlord)
    }

    @Test("A property that cannot be set keeps its value")
    func fixedProperty() {
      let card = Card(id: 1, seal: ada)
      #expect(card.setting(property: ("seal", countess)).seal == ada)
      #expect(card.updated(with: countess).seal == ada)
    }
  }

  @propertyWrapper private struct Sealed<Value: Sendable>: Sendable {
    let wrappedValue: Value
  }

  @Entity @Consistent private struct Card {
    let id: Int
    @EntityIgnored @Sealed var seal: Author

    init(id: Int, seal: Author) {
      self.id = id
      _seal = Sealed(wrappedValue: seal)
    }
  }

  @Entity @Consistent private struct Agent {
    let id: Int
    var author: Author
    var properties: [String] { ["a house"] }
    func setting(_ number: Int) -> Int { number }
  }

  @Entity @Consistent private struct Landlord: Equatable {
    let id: Int
    var properties: [Author]
  }
#endif
