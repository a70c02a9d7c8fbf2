/// Invents events about the books of a catalogue, the same ones for the same seed.
///
/// It favours the books that are on the screens, spares one book from being removed, and now and then invents an event
/// that comes late: its time is before all others, so that the store discards it if it knows anything newer.
public struct EventGenerator: Sendable {
  private var random: SeededGenerator
  private var books: [Book]
  private let authors: [Author]
  private var favourites: [Book.ID]
  private let spared: Book.ID
  private let fewest: Int
  private var renamed: Set<Author.ID> = []
  private var misprints: [Book] = []
  private var count = 0

  public init(catalogue: Catalogue, display: Display, seed: UInt64) {
    random = SeededGenerator(seed: seed)
    books = catalogue.books
    authors = catalogue.authors
    spared = display.book.id
    let byAuthor = catalogue.books.filter { $0.author.id == display.book.author.id }
    favourites = (display.shelf + byAuthor).map(\.id)
    // A shop that is opened again and again is not emptied.
    fewest = max(catalogue.books.count / 2, min(catalogue.books.count, 100))
    // Nor does it get a review twice.
    let numbers = catalogue.books.flatMap(\.reviews).compactMap { $0.id.hasPrefix("g") ? Int($0.id.dropFirst()) : nil }
    count = numbers.max() ?? 0
  }

  public mutating func next() -> Event {
    count += 1
    let isLate = chance(30)
    return Event(change(), at: isLate ? 1 : nil)
  }

  private mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }

  private mutating func change() -> Event.Change {
    let book = pickBook()
    switch Int.random(in: 0..<1000, using: &random) {
    case 0..<430: return .price(book: book.id, cents: 299 + 50 * Int.random(in: 0..<60, using: &random))
    case 430..<740: return .stock(book: book.id, count: Int.random(in: 0..<40, using: &random))
    case 740..<890: return .review(book: book.id, review())
    case 890..<950: return misprint(book)
    case 950..<995: return .name(author: book.author.id, name: signed(book.author))
    default: return removal() ?? .stock(book: book.id, count: 0)
    }
  }

  private mutating func pickBook() -> Book {
    if Bool.random(using: &random), let id = favourites.randomElement(using: &random),
      let book = books.first(where: { $0.id == id })
    {
      return book
    }
    return books[Int.random(in: 0..<books.count, using: &random)]
  }

  private mutating func review() -> Review {
    let stars = Int.random(in: 1...5, using: &random)
    let texts = Self.opinions[stars - 1]
    return Review(
      id: "g\(count)",
      stars: stars,
      by: Self.readers[Int.random(in: 0..<Self.readers.count, using: &random)],
      text: texts[Int.random(in: 0..<texts.count, using: &random)])
  }

  /// A misprint of the title, or, while there are some, the correction of the oldest.
  private mutating func misprint(_ book: Book) -> Event.Change {
    if misprints.count >= 3 {
      let corrected = misprints.removeFirst()
      return .title(book: corrected.id, title: corrected.title)
    }
    var title = Array(book.title)
    guard title.count > 3, !misprints.contains(where: { $0.id == book.id }) else {
      return .title(book: book.id, title: book.title)
    }
    misprints.append(book)
    let place = Int.random(in: 1..<title.count - 1, using: &random)
    title.swapAt(place, place + 1)
    return .title(book: book.id, title: String(title))
  }

  /// The name with initials, or, when it had initials, in full.
  private mutating func signed(_ author: Author) -> String {
    if renamed.remove(author.id) != nil { return author.name }
    renamed.insert(author.id)
    var parts = author.name.split(separator: " ").map(String.init)
    for index in parts.indices.dropLast() { parts[index] = "\(parts[index].prefix(1))." }
    return parts.joined(separator: " ")
  }

  private mutating func removal() -> Event.Change? {
    guard books.count > max(1, fewest) else { return nil }
    let index = Int.random(in: 0..<books.count, using: &random)
    guard books[index].id != spared else { return nil }
    let removed = books.remove(at: index)
    misprints.removeAll { $0.id == removed.id }
    return .remove(book: removed.id)
  }

  private static let readers = [
    "Ada", "Bruno", "Chidi", "Dolores", "Emil", "Farah", "Grete", "Hana", "Ines", "Jonas", "Kofi", "Leila", "Mateo",
    "Nadia", "Olga", "Priya",
  ]

  private static let opinions = [
    ["Not for me.", "I gave up at page 40.", "The print is too small."],
    ["Slow.", "The film was better.", "I expected more of it."],
    ["A fair read.", "Good for a train ride.", "Some fine pages."],
    ["I lent it to all my friends.", "Better than I remembered.", "Read it in two evenings."],
    ["A book for life.", "I wept.", "Perfect from the first line to the last."],
  ]
}
