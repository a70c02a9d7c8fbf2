import ConcordCohesionKit
import Foundation

struct Author: Identifiable, Hashable {
  let id: String
  var name: String
}

struct Book: Aggregate, Hashable {
  var id: String
  var title: String
  var author: Author?
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author)] }
}

enum Medium: EntityWrapper, Equatable {
  case book(Book)

  var book: Book? {
    get { if case .book(let book) = self { book } else { nil } }
    set { if let newValue { self = .book(newValue) } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] { [.init(parent.appending(path: \.book))] }
}

struct Cover: Equatable {
  var artist: Author
}

struct Shelf: Aggregate, Equatable {
  let id: String
  var books: Set<Book> = []
  var byTitle: [String: Book] = [:]
  var cover = Cover(artist: Author(id: "artist", name: "C. E. Brock"))
  var medium: Medium?
  var media: [Medium] = []
  var neighbours: [Shelf] = []

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [
      .init(\.books), .init(\.byTitle), .init(\.cover.artist), .init(wrapper: \.medium), .init(wrapper: \.media),
      .init(\.neighbours),
    ]
  }
}

struct Draft: Identifiable, Equatable {
  var id: String?
  var text: String
}

extension AliasKey where T == Book {
  static var featured: AliasKey { AliasKey("featured") }
}

extension AliasKey where T == [Book] {
  static var favourites: AliasKey { AliasKey("favourites") }
}

extension AliasKey where T == Set<Book> {
  static var shelf: AliasKey { AliasKey("shelf") }
}

let emma = Book(id: "emma", title: "Emma", author: Author(id: "austen", name: "Jane Austen"))
let persuasion = Book(id: "persuasion", title: "Persuasion", author: emma.author)

/// A place for what callbacks receive.
final class Received<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var values: [Value] = []

  func append(_ value: Value) { lock.withLock { values.append(value) } }
  var all: [Value] { lock.withLock { values } }
}

/// Told what it is asked to be told.
final class GuideLogger: EntityStoreLogger {
  let lines = Received<String>()

  func didDiscard<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, storedStamp: Stamp) {
    lines.append("discarded \(id) \(stamp) \(storedStamp)")
  }
  func didRefuse<T: Identifiable>(_ type: T.Type, id: T.ID, reason: RefusalReason) {
    lines.append("refused \(id) \(reason)")
  }
  func didRefuseUpdate<T>(_ alias: AliasKey<T>) { lines.append("refused \(alias.name)") }
  func didMeetStampAheadOfClock<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, clock: Stamp) {
    lines.append("ahead \(id)")
  }
}

/// Told as in CohesionKit.
final class EarlierLogger: EntityStoreLogger {
  let lines = Received<String>()

  func didFailedToStore<T: Identifiable>(_ type: T.Type, id: T.ID, error: any Error) {
    lines.append("\(id) \(error)")
  }
}
