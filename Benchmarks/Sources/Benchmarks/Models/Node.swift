import Concord

/// An entity that contains others of its type.
struct Node: Aggregate, Equatable {
  let id: Int
  var name: String
  var children: [Node]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.children)] }
}
