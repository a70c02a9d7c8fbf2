import ConcordMacros

@Entity struct Author: Equatable {
  let id: String
  var name: String
}

@Entity struct Book: Equatable {
  let id: String
  var title: String
  var author: Author
  var stock: Int
}

/// A customer, with the books on her shelf.
@Entity struct User: Equatable {
  let id: String
  var name: String
  var shelf: [Book]
}

extension AliasKey where T == [Book] {
  static let catalogue = AliasKey("catalogue")
}

extension AliasKey where T == User {
  static let currentUser = AliasKey("currentUser")
}
