public import Concord
public import ConcordModel

extension EntityObserver where Value: Collection, Value.Element: Equatable & Sendable {
  /// An asynchronous sequence of the differences between successive values of a collection. The first one inserts all
  /// elements.
  ///
  /// ```swift
  /// var books: [Book] = []
  /// for await difference in recent.changes { books = books.applying(difference) ?? books }
  /// ```
  ///
  /// When the reader is slow, a difference covers several changes. It ends only when its task is cancelled.
  ///
  /// - Complexity: of each, the length of the collection times the number of differences. Of the hits of a search, what changed of them, and a
  ///   thousandth of their number; no array of the whole is made.
  public var changes: CollectionChanges<Value> {
    let values = values
    let hits = (Value.Element.self as? any FoundElement.Type)?.differences(of: self)
    return CollectionChanges { (hits?() as? Differences<Value.Element>) ?? ValueDifferences(values) }
  }
}

extension EntityObserver where Value: Collection, Value.Element: PersistentEntity & Equatable {
  /// An asynchronous sequence of the differences between successive values of a collection. The first one inserts all
  /// elements.
  ///
  /// ```swift
  /// var books: [Book] = []
  /// for await difference in recent.changes { books = books.applying(difference) ?? books }
  /// ```
  ///
  /// When the reader is slow, a difference covers several changes. It ends only when its task is cancelled.
  ///
  /// - Complexity: of each, the length of the collection times the number of differences. Where a live query has the collection, what
  ///   changed of it, and a thousandth of its length; no array of the whole is made.
  public var changes: CollectionChanges<Value> {
    if let results = unconverted(QueryResult<Value.Element>.self)?.values {
      return CollectionChanges { compared(results) }
    }
    if let results = unconverted(EntityResults<Value.Element>.self)?.values {
      return CollectionChanges { compared(results) }
    }
    let values = values
    return CollectionChanges { ValueDifferences(values) }
  }
}

/// Returns the differences between the results of a live query.
private func compared<Found: ComparedEntities>(_ results: EntityValues<Found>) -> Differences<Found.Entity> {
  FoundDifferences<Found, Found, Found.Entity>(results, found: { $0 }, element: { $1 })
}

/// The differences between the values of an observer; see `observer.changes`.
public struct CollectionChanges<Value: Collection & Sendable>: AsyncSequence, Sendable
where Value.Element: Equatable & Sendable {
  private let begin: @Sendable () -> Differences<Value.Element>

  fileprivate init(_ begin: @escaping @Sendable () -> Differences<Value.Element>) { self.begin = begin }

  public typealias Failure = Never

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator { Iterator(differences: begin()) }

  /// An iterator over the changes of a collection.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let differences: Differences<Value.Element>

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> CollectionDifference<Value.Element>? {
      await differences.next(isolation: actor)
    }
  }
}

/// Follows a collection, and compares.
private class Differences<Element: Equatable & Sendable> {
  func next(isolation actor: isolated (any Actor)?) async -> CollectionDifference<Element>? { nil }
}

/// Compares the values themselves.
private final class ValueDifferences<Value: Collection & Sendable>: Differences<Value.Element>
where Value.Element: Equatable & Sendable {
  private var base: AsyncStream<Value>.Iterator
  private var last: [Value.Element] = []

  init(_ values: EntityValues<Value>) { base = values.makeAsyncIterator() }

  override func next(isolation actor: isolated (any Actor)?) async -> CollectionDifference<Value.Element>? {
    guard let value = await base.next(isolation: actor) else { return nil }
    let present = Array(value)
    defer { last = present }
    return present.difference(from: last)
  }
}

/// Compares results of a live query where they are not the same.
private final class FoundDifferences<Found: ComparedEntities, Base: Sendable, Element: Equatable & Sendable>:
  Differences<Element>
{
  private var base: AsyncStream<Base>.Iterator
  private var last: Found?
  private let found: (Base) -> Found
  private let element: (Base, Found.Entity) -> Element

  init(
    _ values: EntityValues<Base>, found: @escaping (Base) -> Found,
    element: @escaping (Base, Found.Entity) -> Element
  ) {
    (base, self.found, self.element) = (values.makeAsyncIterator(), found, element)
  }

  override func next(isolation actor: isolated (any Actor)?) async -> CollectionDifference<Element>? {
    while let value = await base.next(isolation: actor) {
      let result = found(value)
      let difference = result.changes(from: last)
      // Blocks may have changed without an element.
      guard last == nil || !difference.isEmpty else { continue }
      last = result
      return CollectionDifference(
        difference.map { change in
          switch change {
          case .insert(let offset, let entity, _):
            .insert(offset: offset, element: element(value, entity), associatedWith: nil)
          case .remove(let offset, let entity, _):
            .remove(offset: offset, element: element(value, entity), associatedWith: nil)
          }
        })
    }
    return nil
  }
}

/// The result of a live query, in the form in which it is kept up to date.
protocol FoundEntities<Entity>: Sendable {
  associatedtype Entity: PersistentEntity
  /// All entities, in order.
  var entities: [Entity] { get }
}

/// The result of a live query for entities that can be compared.
private protocol ComparedEntities: FoundEntities where Entity: Equatable {
  /// Returns the insertions and removals that turn an earlier result into this one.
  func changes(from old: Self?) -> CollectionDifference<Entity>
}

extension QueryResult: FoundEntities {
  var entities: [T] { items }
}

extension QueryResult: ComparedEntities where T: Equatable {
  fileprivate func changes(from old: QueryResult?) -> CollectionDifference<T> { difference(from: old) }
}

extension EntityResults: FoundEntities where Element: PersistentEntity {
  var entities: [Element] { Array(self) }
}

extension EntityResults: ComparedEntities where Element: PersistentEntity & Equatable {
  fileprivate func changes(from old: EntityResults?) -> CollectionDifference<Element> {
    collectionDifference(from: old) ?? Array(self).difference(from: old.map { Array($0) } ?? [])
  }
}

/// An element of a collection that is made of what a live query has found.
private protocol FoundElement: Sendable {
  /// Returns a closure that begins to compare what an array of such elements is made of; `nil` if that is not known.
  static func differences<Value: Sendable>(of observer: EntityObserver<Value>) -> (@Sendable () -> AnyObject)?
}

extension SearchHit: FoundElement where T: Equatable {
  static func differences<Value: Sendable>(of observer: EntityObserver<Value>) -> (@Sendable () -> AnyObject)? {
    func begin<Found: ComparedEntities>(_: Found.Type) -> (@Sendable () -> AnyObject)? where Found.Entity == T {
      guard let values = observer.unconverted(FoundHits<Found>.self)?.values else { return nil }
      return {
        FoundDifferences<Found, FoundHits<Found>, SearchHit>(values, found: { $0.found }, element: { $0.hit($1) })
      }
    }
    return begin(QueryResult<T>.self) ?? begin(EntityResults<T>.self)
  }
}
