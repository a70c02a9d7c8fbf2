#if Macros
  import ConcordMacros
  import Testing

  @Suite("Generated objects merge")
  struct ConsistencyBehaviourTests {
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

  @Entity private struct Card {
    let id: Int
    @EntityIgnored @Sealed var seal: Author

    init(id: Int, seal: Author) {
      self.id = id
      _seal = Sealed(wrappedValue: seal)
    }
  }
#endif
