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
  /// - Complexity: of each, the length of the collection times the number of differences.
  public var changes: CollectionChanges<Value> {
    let values = values
    return CollectionChanges { ValueDifferences(values) }
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
      return CollectionChanges { ResultDifferences(results) }
    }
    if let results = unconverted(EntityResults<Value.Element>.self)?.values {
      return CollectionChanges { MergedDifferences(results) }
    }
    let values = values
    return CollectionChanges { ValueDifferences(values) }
  }
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

/// Compares the results of a live query where they are not the same.
private final class ResultDifferences<T: PersistentEntity & Equatable>: Differences<T> {
  private var base: AsyncStream<QueryResult<T>>.Iterator
  private var last: QueryResult<T>?

  init(_ results: EntityValues<QueryResult<T>>) { base = results.makeAsyncIterator() }

  override func next(isolation actor: isolated (any Actor)?) async -> CollectionDifference<T>? {
    while let result = await base.next(isolation: actor) {
      let difference = result.difference(from: last)
      // Blocks may have changed without an element.
      guard last == nil || !difference.isEmpty else { continue }
      last = result
      return difference
    }
    return nil
  }
}

/// Compares the results of a query over the view where they are not the same.
private final class MergedDifferences<T: PersistentEntity & Equatable>: Differences<T> {
  private var base: AsyncStream<EntityResults<T>>.Iterator
  private var last: EntityResults<T>?

  init(_ results: EntityValues<EntityResults<T>>) { base = results.makeAsyncIterator() }

  override func next(isolation actor: isolated (any Actor)?) async -> CollectionDifference<T>? {
    while let results = await base.next(isolation: actor) {
      let difference =
        results.collectionDifference(from: last) ?? Array(results).difference(from: last.map { Array($0) } ?? [])
      guard last == nil || !difference.isEmpty else { continue }
      last = results
      return difference
    }
    return nil
  }
}
