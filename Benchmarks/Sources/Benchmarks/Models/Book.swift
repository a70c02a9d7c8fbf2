/// A flat entity: an id and three strings, two of which are too long to stand in the value itself.
struct Book: Identifiable, Equatable, Sendable {
  let id: Int
  var title: String
  var author: String
  var summary: String

  init(id: Int) {
    self.id = id
    title = "The collected works, volume \(id)"
    author = "Author \(id % 100)"
    summary = "What happens in volume number \(id)"
  }

  /// The book with another id, whose strings are the other's own.
  init(id: Int, like other: Book) {
    self.id = id
    title = other.title
    author = other.author
    summary = other.summary
  }

  func with(title: String) -> Book {
    var copy = self
    copy.title = title
    return copy
  }

  static func samples(_ count: Int) -> [Book] { (0..<count).map(Book.init) }
}

/// Titles to change to, made before anything is timed.
enum Titles {
  private static let all = (0..<16).map { "A title that came in by update \($0)" }

  static subscript(_ index: Int) -> String { all[index & 15] }
}
