/// Why an event could not be taken in.
enum EventProblem: Error, Equatable, CustomStringConvertible {
  case malformed(String)
  case unknownBook(Book.ID)
  case unknownAuthor(Author.ID)
  case reviewAlreadyThere(Review.ID)
  /// The disk is full, or the file is held by others.
  case notSaved(String)

  var description: String {
    switch self {
    case .malformed(let reason): reason
    case .unknownBook(let id): "there is no book \"\(id)\""
    case .unknownAuthor(let id): "there is no author \"\(id)\""
    case .notSaved(let reason): "the event could not be saved: \(reason)"
    case .reviewAlreadyThere(let id): "there is already a review \"\(id)\""
    }
  }
}
