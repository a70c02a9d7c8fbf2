import Concord
import Foundation

struct Book: Identifiable, Equatable, Sendable {
  let id: String
  var title: String
}

struct Author: Identifiable, Equatable, Sendable {
  let id: Int
  var name: String
}

struct AuthorBooks: Aggregate, Equatable {
  var id: Int { author.id }
  var author: Author
  var books: [Book]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(\.books)] }
}

extension AliasKey where T == Book {
  static var featured: AliasKey { AliasKey("featured") }
}

extension AliasKey where T == [Book] {
  static var favourites: AliasKey { AliasKey("favourites") }
}

/// A place for what callbacks receive.
final class Received<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var values: [Value] = []

  func append(_ value: Value) {
    lock.withLock { values.append(value) }
  }

  var all: [Value] {
    lock.withLock { values }
  }
}
