/// What one screen shows right now, for comparison with the others.
struct Shown: Sendable {
  enum Subject: Sendable, Equatable {
    case list
    case book(Book.ID)
    case author(Author.ID)
    case shelf
    /// Books that the screen holds itself.
    case own
  }

  let subject: Subject
  let screen: String
  var books: [Book]
  /// The authors that the screen shows apart from those of its books.
  var authors: [Author] = []
}
