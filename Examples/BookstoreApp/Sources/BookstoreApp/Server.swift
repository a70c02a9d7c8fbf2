/// Stands for a web service: slow, and each answer is a copy of what it has.
actor Server {
  private var books: [Book] = {
    let austen = Author(id: "austen", name: "Jane Austen")
    let melville = Author(id: "melville", name: "Herman Melville")
    return [
      Book(id: "emma", title: "Emma", author: austen, stock: 3),
      Book(id: "persuasion", title: "Persuasion", author: austen, stock: 7),
      Book(id: "moby-dick", title: "Moby-Dick", author: melville, stock: 2),
    ]
  }()

  func catalogue() async throws -> [Book] {
    try await Task.sleep(for: .seconds(1))
    return books
  }

  /// Somebody else buys a copy now and then.
  func nextSale() async throws -> Book {
    try await Task.sleep(for: .seconds(2))
    let index = Int.random(in: books.indices)
    books[index].stock = books[index].stock > 0 ? books[index].stock - 1 : 9
    return books[index]
  }
}
