#if Macros
  import ConcordMacros
  import Testing

  @Entity @Projection(of: Book.self) struct BookSummary: Equatable {
    let id: String
    var title: String
    var author: Author
    @EntityIgnored var isExpanded = false
  }

  @Suite("Generated projections")
  struct ProjectionTests {
    @Test("A summary and its book share what has the same name")
    func inStep() {
      let store = EntityStore(delivery: .immediate)
      let author = Author(id: "austen", name: "Jane Austen")
      let book = store.store(Book(id: "emma", title: "Ema", author: author))
      let summary = store.store(BookSummary(id: "emma", title: "Emma", author: author, isExpanded: true))
      #expect(book.value.title == "Emma")
      store.update(Book.self, id: "emma") { $0.author = Author(id: "lady", name: "A Lady") }
      #expect(
        summary.value
          == BookSummary(
            id: "emma", title: "Emma", author: Author(id: "lady", name: "A Lady"), isExpanded: true))
    }
  }
#endif
