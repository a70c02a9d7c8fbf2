import ConcordConsistency
import Testing

@Suite("An object that refers back to its container loses no field")
struct ReferringBackTests {
  @Test("A field that is listed")
  func listed() {
    let owned = Node("album", "", [Node("photo", "old", [])])
    let updated = owned.updated(with: Node("photo", "new", [owned]))
    #expect(updated.friends[0].name == "new")
  }

  @Test("A field that is not listed")
  func notListed() {
    let album = Album(id: "a", title: "Album", photos: [Photo(id: "p", name: "old")])
    let updated = album.updated(with: Photo(id: "p", name: "new", albums: [album]))
    #expect(updated.photos[0].name == "new")
    #expect(updated.photos[0].albums.isEmpty)
    #expect(updated.title == "Album")
  }

  @Test("Fields that are not listed, in equal places of what is pushed")
  func equalPlaces() {
    // Both photos list the same, no albums, and differ in what is not listed.
    let pushed = ConsistentBatch([
      Photo(id: "p", name: "new"), Album(id: "a", title: "new", photos: [Photo(id: "p", name: "old")]),
    ])
    let updated = Album(id: "a", title: "", photos: []).updated(with: pushed)
    #expect(updated.photos[0].name == "new")
  }

  @Test("An immutable object, whose fields cannot be set")
  func immutable() {
    let page = FixedPage(id: 1, text: "old", book: nil)
    let book = FixedBook(id: 1, title: "Book", pages: [page])
    let updated = book.updated(with: FixedPage(id: 1, text: "new", book: [book]))
    #expect(updated.pages[0].text == "new")
    #expect(updated.title == "Book")
  }

  @Test("Neither the object nor what owns it grows with each push")
  func growth() {
    var album = Album(id: "a", title: "Album", photos: [Photo(id: "p", name: "0")])
    for version in 1...50 {
      album = album.updated(with: Photo(id: "p", name: "\(version)", albums: [album]))
      album = album.updated(with: album)
      #expect(album.photos[0].name == "\(version)")
      #expect(album.count <= 4)
    }
    var book = FixedBook(id: 1, title: "Book", pages: [FixedPage(id: 1, text: "0", book: nil)])
    let original = book
    for version in 1...50 {
      book = book.updated(with: FixedPage(id: 1, text: "\(version)", book: [original]))
      book = book.updated(with: book)
      #expect(book.pages[0].text == "\(version)")
      #expect(book.count <= 4)
    }
  }

  @Test("What leads out of the cycle is current, too")
  func outOfTheCycle() {
    let silver = Badge(id: "1", title: "Silver")
    let owned = Node("album", "", [Node("photo", "old", [], badge: silver)])
    let pushed = ConsistentBatch([
      Node("photo", "new", [owned], badge: silver), Badge(id: "1", title: "Gold"),
    ])
    let updated = owned.updated(with: pushed)
    #expect(updated.friends[0].name == "new")
    #expect(updated.friends[0].badge?.title == "Gold")
  }
}

/// Lists what holds objects, and nothing else.
struct Photo: ConsistentObject {
  let id: String
  var name: String
  var albums: [Album] = []

  var count: Int { albums.reduce(1) { $0 + $1.count } }

  var properties: [Property] { [("albums", albums)] }

  func setting(property: Property) -> Photo {
    var copy = self
    if let value = property.value as? [Album] { copy.albums = value }
    return copy
  }
}

struct Album: ConsistentObject {
  let id: String
  var title: String
  var photos: [Photo]

  var count: Int { photos.reduce(1) { $0 + $1.count } }

  var properties: [Property] { [("photos", photos)] }

  func setting(property: Property) -> Album {
    var copy = self
    if let value = property.value as? [Photo] { copy.photos = value }
    return copy
  }
}

/// As `@Entity` writes it for a type all of whose properties are constants.
struct FixedPage: Identifiable {
  let id: Int
  let text: String
  let book: [FixedBook]?

  var count: Int { (book ?? []).reduce(1) { $0 + $1.count } }
}

extension FixedPage: StaticallyConsistent {
  var properties: [Property] { [("id", id), ("text", text), ("book", book)] }
  func setting(property: Property) -> FixedPage { self }
  static func declareConsistentParts(in types: inout ConsistentTypes) { types.include(\Self.book) }
  func visitConsistentParts(_ visitor: ConsistentVisitor) { visitor.visit(book) }
  func mergingConsistentParts(_ merge: ConsistentMerge) -> FixedPage? { nil }
}

struct FixedBook: Identifiable {
  let id: Int
  let title: String
  var pages: [FixedPage]

  var count: Int { pages.reduce(1) { $0 + $1.count } }
}

extension FixedBook: StaticallyConsistent {
  var properties: [Property] { [("id", id), ("title", title), ("pages", pages)] }

  func setting(property: Property) -> FixedBook {
    var copy = self
    if property.label == "pages", let value = property.value as? [FixedPage] { copy.pages = value }
    return copy
  }

  static func declareConsistentParts(in types: inout ConsistentTypes) { types.include(\Self.pages) }
  func visitConsistentParts(_ visitor: ConsistentVisitor) { visitor.visit(pages) }

  func mergingConsistentParts(_ merge: ConsistentMerge) -> FixedBook? {
    guard let pages = merge.updated(pages) else { return nil }
    return FixedBook(id: id, title: title, pages: pages)
  }
}
