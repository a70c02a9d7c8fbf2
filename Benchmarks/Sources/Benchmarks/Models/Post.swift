import Concord

/// Somebody who writes posts.
struct User: Identifiable, Equatable, Sendable {
  let id: Int
  var name: String
  var city: String
  var mail: String

  init(id: Int) {
    self.id = id
    name = "The person with number \(id)"
    city = "Lisbon, in the west of Portugal"
    mail = "person.number.\(id)@example.org"
  }
}

/// An aggregate with one relation, whose key paths are asked of every value.
struct Post: Aggregate, Equatable {
  let id: Int
  var title: String
  var text: String
  var author: User

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author)] }

  init(id: Int, author: User) {
    self.id = id
    title = "What I have to say today, part \(id)"
    text = "It is the same that I had to say yesterday, when it was number \(id - 1)."
    self.author = author
  }

  static func samples(_ count: Int, author: User) -> [Post] { (0..<count).map { Post(id: $0, author: author) } }
}
