import Concord

/// What the tests of layers store.
struct LayerBook: Identifiable, Equatable, Sendable {
  let id: Int
  var title = ""
  var likes = 0
}

struct LayerShelf: Aggregate, Equatable {
  let id: Int
  var name = ""
  var books: [LayerBook] = []
  var best: LayerBook?

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.books), .init(\.best)] }
}

struct LayerReader: Aggregate, Equatable {
  let id: Int
  var name = ""
  var friends: [LayerReader] = []
  var shelf: LayerShelf?

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.friends), .init(\.shelf)] }
}

extension AliasKey where T == LayerBook {
  static var featured: AliasKey<LayerBook> { "featured" }
}

extension AliasKey where T == [LayerBook] {
  static var shelved: AliasKey<[LayerBook]> { "favourites" }
}
