import Concord
import Testing

@Suite("What a partial value lacks is not wiped")
struct PartialValuesTests {
  private struct Author: Identifiable, Equatable, PartialEntity {
    let id: String
    var name: String
    var biography: String?
    var tags: [String] = []
    static var optionalFields: [OptionalField<Author>] { [.init(\.biography), .init(\.tags)] }
  }

  private struct Review: Identifiable, Equatable {
    let id: Int
    var text: String
    var stars: Int?
  }

  private struct Book: Aggregate, Equatable {
    let id: String
    var title: String
    var summary: String?
    var author: Author?
    var reviews: [Review] = []
    var byReader: [String: Review] = [:]
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
      [.init(\.author), .init(\.reviews), .init(\.byReader)]
    }
  }

  private let store = EntityStore(delivery: .immediate)
  private let austen = Author(id: "austen", name: "Jane Austen", biography: "Born in 1775.", tags: ["novel"])
  private var whole: Book {
    let review = Review(id: 1, text: "Yes.", stars: 5)
    return Book(
      id: "emma", title: "Emma", summary: "Long.", author: austen, reviews: [review], byReader: ["Ada": review])
  }

  @Test("Relations that are left out stay, with all that is in them; what is there counts")
  func relations() {
    let book = store.store(whole)
    store.store(Book(id: "emma", title: "Emma!"), merging: .ifPresent)
    var expected = whole
    expected.title = "Emma!"
    // Nobody said that the summary may be missing.
    expected.summary = nil
    #expect(book.value == expected)
    store.store(Book(id: "emma", title: "Emma", reviews: [Review(id: 2, text: "No.")]), merging: .ifPresent)
    #expect(book.value.reviews.map(\.id) == [2])
    #expect(book.value.author == austen)
    // By default what is left out goes.
    store.store(Book(id: "emma", title: "Emma"))
    #expect(book.value == Book(id: "emma", title: "Emma"))
    #expect(store.value(Author.self, id: "austen") == nil)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("Fields that the call or the type names stay where they are missing, inside of others, too")
  func fields() {
    let book = store.store(whole)
    var part = Book(id: "emma", title: "Emma!", author: Author(id: "austen", name: "J. Austen"))
    store.store(part, merging: .ifPresent(.init(\.summary)))
    #expect(book.value.summary == "Long.")
    #expect(book.value.author == Author(id: "austen", name: "J. Austen", biography: "Born in 1775.", tags: ["novel"]))
    #expect(store.value(Author.self, id: "austen") == book.value.author)
    part.summary = "Short."
    part.author?.biography = "Died in 1817."
    store.store(part, merging: .ifPresent(.init(\.summary)))
    #expect(book.value.summary == "Short.")
    #expect(book.value.author?.biography == "Died in 1817.")
    #expect(book.value.author?.tags == ["novel"])
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("An entity by itself is completed, too, and one that is new is stored with what there is")
  func flat() {
    let author = store.store(austen)
    store.store(Author(id: "austen", name: "J. Austen"), named: AliasKey("favourite"), merging: .ifPresent)
    #expect(author.value.biography == "Born in 1775.")
    #expect(author.value.name == "J. Austen")
    #expect(store.find(named: AliasKey<Author>("favourite")).value == author.value)
    let new = store.store(Author(id: "new", name: "New"), merging: .ifPresent)
    #expect(new.value == Author(id: "new", name: "New"))
    let review = store.store(Review(id: 1, text: "Yes.", stars: 5))
    store.store(Review(id: 1, text: "Oh yes."), merging: .ifPresent(.init(\.stars)))
    #expect(review.value == Review(id: 1, text: "Oh yes.", stars: 5))
    store.store(Review(id: 1, text: "Yes?"), merging: .ifPresent)
    #expect(review.value.stars == nil)
  }

  @Test("A list of parts is stored in one transaction, and an empty list is an empty list")
  func lists() {
    let book = store.store(whole)
    let log = Log<Book>()
    let subscription = book.observe { log.append($0) }
    let parts = [Book(id: "emma", title: "Emma!"), Book(id: "persuasion", title: "Persuasion")]
    let name = AliasKey<[Book]>("books")
    let list = store.store(parts, named: name, merging: .ifPresent(.init(\.summary)))
    #expect(list.value.map(\.author?.name) == ["Jane Austen", nil])
    #expect(list.value[0].summary == "Long.")
    #expect(log.count == 2)
    #expect(store.find(named: name).value?.map(\.author?.name) == ["Jane Austen", nil])
    store.store([] as [Book], named: name, merging: .ifPresent)
    #expect(store.find(named: name).value?.isEmpty == true)
    let unnamed = store.store(parts, merging: .ifPresent(.init(\.summary)))
    #expect(unnamed.value.map(\.summary) == ["Long.", nil])
    withExtendedLifetime(subscription) {}
  }

  @Test("What stays keeps its stamp, and a stale part changes nothing")
  func stamps() {
    let book = store.store(whole, modifiedAt: 5)
    store.store(Book(id: "emma", title: "v10"), modifiedAt: 10, merging: .ifPresent(.init(\.summary)))
    store.update(Review.self, id: 1, modifiedAt: 7) { $0.text = "v7" }
    #expect(book.value.reviews.map(\.text) == ["v7"])
    store.store(Book(id: "emma", title: "v9", summary: "v9"), modifiedAt: 9, merging: .ifPresent)
    #expect((book.value.title, book.value.summary) == ("v10", "Long."))
    let fresh = Book(id: "emma", title: "v8", author: Author(id: "austen", name: "v8"))
    store.store(fresh, modifiedAt: 8, merging: .ifPresent)
    #expect((book.value.title, book.value.author?.name) == ("v10", "v8"))
    #expect(book.value.author?.biography == "Born in 1775.")
  }

  @Test("A part that brings nothing new tells nobody")
  func quiet() {
    let book = store.store(whole)
    let log = Log<Book>()
    let subscription = book.observe { log.append($0) }
    store.store(Book(id: "emma", title: "Emma"), merging: .ifPresent(.init(\.summary)))
    let author = Author(id: "austen", name: "Jane Austen")
    store.store(Book(id: "emma", title: "Emma", author: author), merging: .ifPresent(.init(\.summary)))
    #expect(log.count == 1)
    #expect(book.value == whole)
    withExtendedLifetime(subscription) {}
  }

  @Test("In a cycle what is left out stays as well")
  func cycle() {
    struct Person: Aggregate, Equatable {
      let id: Int
      var name: String
      var nick: String?
      var friends: [Person]
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.friends)] }
    }
    let ada = store.store(
      Person(
        id: 0, name: "Ada", friends: [Person(id: 1, name: "Bo", friends: [Person(id: 0, name: "Ada", friends: [])])]))
    store.update(Person.self, id: 0) { $0.nick = "A" }
    store.store(Person(id: 0, name: "Ada!", friends: []), merging: .ifPresent(.init(\.nick)))
    #expect((ada.value.name, ada.value.nick, ada.value.friends.map(\.name)) == ("Ada!", "A", ["Bo"]))
    #expect(store.value(Person.self, id: 1)?.friends.map(\.name) == ["Ada!"])
    #expect(store._checkInvariants().isEmpty)
  }

  @Test(
    "A wrapper that holds no entity is there; an optional one that is nil, or lists of lists that are empty, are not")
  func wrappers() {
    enum Part: EntityWrapper, Equatable {
      case review(Review), text(String)
      var review: Review? {
        get { if case .review(let review) = self { review } else { nil } }
        set { if let newValue { self = .review(newValue) } }
      }
      func wrappedEntitiesKeyPaths<Root>(
        relativeTo parent: WritableKeyPath<Root, Part>
      ) -> [PartialIdentifiableKeyPath<Root>] {
        if case .review = self { [.init(parent.appending(path: \.review))] } else { [] }
      }
    }
    struct Page: Aggregate, Equatable {
      let id: Int
      var part: Part
      var other: Part?
      var parts: [Part] = []
      var rows: [[Review]] = []
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
        [.init(wrapper: \.part), .init(wrapper: \.other), .init(wrapper: \.parts), .init(\.rows)]
      }
    }
    let review = Review(id: 1, text: "Yes.", stars: 5)
    let full = Page(id: 0, part: .review(review), other: .review(review), parts: [.text("a")], rows: [[review]])
    let page = store.store(full)
    store.store(Page(id: 0, part: .text("x")), merging: .ifPresent)
    var expected = full
    expected.part = .text("x")
    #expect(page.value == expected)
    store.store(Page(id: 0, part: .text("y"), other: .text("z")), merging: .ifPresent)
    (expected.part, expected.other) = (.text("y"), .text("z"))
    #expect(page.value == expected)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("A transaction that throws takes it back")
  func thrown() {
    struct Failure: Error {}
    let book = store.store(whole)
    try? store.transaction { tx in
      tx.store(Book(id: "emma", title: "Emma!"), merging: .ifPresent(.init(\.summary)))
      #expect(book.value.title == "Emma!")
      throw Failure()
    }
    #expect(book.value == whole)
  }

  @Test("A field that would make another entity of it is not completed")
  func filledID() {
    struct Sum: Identifiable, Equatable {
      var a: Int?
      var b: Int?
      var text: String
      var id: Int { (a ?? 0) + (b ?? 0) }
    }
    struct Sheet: Aggregate, Equatable {
      let id: Int
      var sum: Sum
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.sum)] }
    }
    let sum = store.store(Sum(a: 1, b: nil, text: "x"))
    store.store(Sum(a: nil, b: 1, text: "y"), merging: .ifPresent(.init(\.a), .init(\.b)))
    #expect(sum.value == Sum(a: nil, b: 1, text: "y"))
    #expect(store.value(Sum.self, id: 1) == sum.value)
    #expect(store.count(Sum.self) == 1)
    #expect(store._checkInvariants().isEmpty)
  }

  private struct Details: EntityWrapper, Equatable {
    var review: Review?
    var text = 0
    func wrappedEntitiesKeyPaths<Root>(
      relativeTo parent: WritableKeyPath<Root, Self>
    ) -> [PartialIdentifiableKeyPath<Root>] { [.init(parent.appending(path: \.review))] }
  }

  private struct Sheet: Aggregate, Equatable, PartialEntity {
    let id: Int
    var details: Details
    var reviews: [Review] = []
    /// A part of a relation.
    var review: Review? {
      get { details.review }
      set { details.review = newValue }
    }
    static var optionalFields: [OptionalField<Sheet>] { [.init(\.review), .init(\.reviews)] }
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
      [.init(wrapper: \.details), .init(\.reviews)]
    }
  }

  @Test(
    "A field that is a part of a relation stays with the entity in it, which is followed", arguments: [false, true])
  func filledRelation(isInTransaction: Bool) {
    let log = Log<Sheet>()
    let (one, two) = (Review(id: 1, text: "One"), Review(id: 2, text: "Two"))
    let sheet = store.store(Sheet(id: 0, details: Details(review: one, text: 1), reviews: [two]), modifiedAt: 1)
    let subscription = sheet.observe { log.append($0) }
    func part(_ store: EntityStore) {
      store.store(Sheet(id: 0, details: Details(text: 2)), modifiedAt: 2, merging: .ifPresent)
      store.update(Review.self, id: 1, modifiedAt: 1.5) { $0.text = "One." }
      store.update(Review.self, id: 2, modifiedAt: 1.5) { $0.text = "Two." }
      #expect(sheet.value.details.review?.text == "One.")
      #expect(sheet.value.reviews.map(\.text) == ["Two."])
    }
    if isInTransaction { store.transaction { part($0) } } else { part(store) }
    #expect(sheet.value.details == Details(review: Review(id: 1, text: "One."), text: 2))
    #expect(store.value(Review.self, id: 1)?.text == "One.")
    #expect(log.last == sheet.value)
    #expect(log.count == (isInTransaction ? 2 : 4))
    store.store(Sheet(id: 0, details: Details(text: 2)), modifiedAt: 3, merging: .ifPresent)
    #expect(log.count == (isInTransaction ? 2 : 4))
    #expect(store._checkInvariants().isEmpty)
    subscription.unsubscribe()
  }
}
