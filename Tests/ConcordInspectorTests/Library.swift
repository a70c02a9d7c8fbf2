#if Inspector
  import Concord
  import Foundation

  struct Author: Identifiable, Equatable, Sendable {
    let id: String
    var name: String
  }

  struct Book: Aggregate, Equatable, Sendable {
    let id: Int
    var title: String
    var author: Author
    var tags: [String] = []
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Book>] { [.init(\.author)] }
  }

  extension AliasKey<Book> { static let featured: AliasKey<Book> = "featured" }

  let austen = Author(id: "austen", name: "Jane Austen")
  let emma = Book(id: 1, title: "Emma", author: austen)
#endif
