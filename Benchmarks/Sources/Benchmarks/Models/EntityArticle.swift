#if Macros
  import ConcordMacros

  /// The same article with what the macro generates. Built with the trait `Macros` only.
  @Entity
  struct EntityArticle: SmallAggregate {
    let id: Int
    var title: String
    var author: User
    var about: Book

    init(id: Int) {
      self.id = id
      title = "What I think of book number \(id)"
      author = User(id: id % 100)
      about = Book(id: id)
    }
  }
#endif
