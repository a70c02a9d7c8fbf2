import BookstoreKit

/// Something that a screen says of a book or an author. Screens agree if none says anything else of the same.
struct Fact: Hashable, Sendable {
  var subject: String
  var property: String

  static func facts(_ row: BookRow) -> [Fact: String] {
    let book = "book \(row.id)"
    return [
      Fact(subject: book, property: "title"): row.title, Fact(subject: book, property: "price"): "\(row.cents)",
      Fact(subject: book, property: "reviews"): "\(row.reviews), \(row.stars) tenths",
      Fact(subject: "author \(row.authorID)", property: "name"): row.author,
    ]
  }
}

/// Collects what screens say, and where they contradict each other.
struct Agreement: Sendable {
  private var said: [Fact: (value: String, screen: String)] = [:]
  private(set) var comparisons = 0
  private(set) var disagreements: [String] = []

  mutating func add(_ facts: [Fact: String], on screen: String) {
    for (fact, value) in facts {
      guard let before = said[fact] else {
        said[fact] = (value, screen)
        continue
      }
      comparisons += 1
      if before.value != value {
        let what = "the \(fact.property) of \(fact.subject)"
        disagreements.append("\(what) is '\(before.value)' for \(before.screen), and '\(value)' for \(screen)")
      }
    }
  }

  mutating func expect(_ holds: Bool, _ disagreement: @autoclosure () -> String) {
    comparisons += 1
    if !holds { disagreements.append(disagreement()) }
  }
}

extension Agreement {
  static func += (sum: inout Agreement, other: Agreement) {
    sum.comparisons += other.comparisons
    sum.disagreements += other.disagreements
  }
}
