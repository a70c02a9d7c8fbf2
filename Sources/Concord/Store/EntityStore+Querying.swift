public import Foundation

extension EntityStore {
  /// Asks for all entities of a type that meet a condition, in an order, and keeps the answer up to date.
  ///
  /// ```swift
  /// let open = store.query(
  ///   Note.self, where: #Predicate { !$0.isDone }, sortBy: [SortDescriptor(\.due), SortDescriptor(\.title)], limit: 50)
  /// let subscription = open.observeDifferences { difference in print(difference.inserted.count, "more") }
  /// ```
  ///
  /// The observer retains no entity: what nobody else retains leaves the results. It keeps the values that it last looked at. Entities that
  /// the descriptors do not tell apart are in the order of their ids: of numbers, texts and UUIDs in that of files; of a type that is not
  /// `Comparable` in the order in which they were stored, those that were there before the query in any. An entity for which the predicate
  /// throws is left out.
  ///
  /// A predicate that demands a stored property to have a certain value (`$0.project == project`, `!$0.isDone`), or one in a range
  /// (`$0.minutes >= 5 && $0.minutes < 60`), also joined with further conditions by `&&`, concerns only changes of entities that meet the demand, or
  /// met it before. Any other predicate is evaluated for each entity that changes, once for each value, and once more for one that was read in the
  /// transaction that made it.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - predicate: the condition. It is evaluated where observers are called, for an asynchronous sequence on the thread that commits, and
  ///     where the value is read.
  ///   - order: the order of the results. A property to sort by must not read the query.
  ///   - limit: the greatest number of entities to show; no limit if it is `nil`.
  /// - Complexity: of making it, the number of stored entities of the type, with one evaluation for each, and a sort. Afterwards, of a
  ///   notice or a reading, the number of changed entities times the logarithm of the number of results.
  public func query<T: Identifiable & Sendable>(
    _ type: T.Type, where predicate: Predicate<T>, sortBy order: [SortDescriptor<T>] = [], limit: Int? = nil
  ) -> EntityObserver<EntityResults<T>> {
    query(FetchDescriptor(predicate: predicate, sortBy: order, fetchLimit: limit))
  }

  /// Asks for all entities of a type that meet a condition, in an order, and keeps the answer up to date.
  ///
  /// ```swift
  /// let late = store.query(Note.self, where: { $0.isLate }, sortBy: [SortDescriptor(\.due)])
  /// ```
  ///
  /// As with a predicate, except that any change of an entity of the type concerns the query.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - isIncluded: the condition. It is called once for each new value of an entity, where observers are called and where the value is read,
  ///     without any lock; once more for a value that was read in the transaction that made it, or that two threads ask for at the same time.
  ///     It may use the store, but what it finds there is not followed.
  ///   - order: the order of the results. A property to sort by must not read the query.
  ///   - limit: the greatest number of entities to show; no limit if it is `nil`.
  /// - Complexity: as with a predicate.
  public func query<T: Identifiable & Sendable>(
    _ type: T.Type, where isIncluded: @escaping @Sendable (T) -> Bool, sortBy order: [SortDescriptor<T>] = [],
    limit: Int? = nil
  ) -> EntityObserver<EntityResults<T>> {
    query(EntryOrder(order), offset: nil, limit, nil, isIncluded)
  }

  /// Asks for all entities of a type, in an order, and keeps the answer up to date.
  ///
  /// ```swift
  /// let subscription = store.query(Note.self).sum(\.minutes).observe { print($0, "minutes") }
  /// ```
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - order: the order of the results. A property to sort by must not read the query.
  ///   - limit: the greatest number of entities to show; no limit if it is `nil`.
  /// - Complexity: as with a predicate.
  public func query<T: Identifiable & Sendable>(
    _ type: T.Type, sortBy order: [SortDescriptor<T>] = [], limit: Int? = nil
  ) -> EntityObserver<EntityResults<T>> {
    query(EntryOrder(order), offset: nil, limit, nil, nil)
  }

  /// Asks for the entities that a descriptor describes, and keeps the answer up to date.
  ///
  /// ```swift
  /// let first = store.query(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.due)], fetchLimit: 20))
  /// ```
  ///
  /// The same description fetches from files.
  ///
  /// - Parameter descriptor: the condition, the order, and the part of the results.
  /// - Complexity: as with a predicate.
  public func query<T: Identifiable & Sendable>(_ descriptor: FetchDescriptor<T>) -> EntityObserver<EntityResults<T>> {
    query(descriptor, in: EntryOrder(descriptor.sortBy))
  }

  /// Asks for the entities that a description tells, in an order that includes the description's.
  package func query<T: Identifiable & Sendable>(
    _ descriptor: FetchDescriptor<T>, in order: EntryOrder<T>
  ) -> EntityObserver<EntityResults<T>> {
    let isIncluded = descriptor.predicate.map(CheckedPredicate.init).map { predicate in
      { @Sendable (value: T) in (try? predicate.evaluate(value)) ?? false }
    }
    return query(
      order, offset: descriptor.fetchOffset, descriptor.fetchLimit,
      descriptor.predicate.flatMap { QueryDemand($0) }, isIncluded)
  }

  private func query<T: Identifiable & Sendable>(
    _ order: EntryOrder<T>, offset: Int?, _ limit: Int?, _ demand: QueryDemand<T>?,
    _ isIncluded: (@Sendable (T) -> Bool)?
  ) -> EntityObserver<EntityResults<T>> {
    let start = max(0, offset ?? 0)
    let (end, isEndless) = start.addingReportingOverflow(max(0, limit ?? .max))
    let engine = QueryEngine(order, window: start..<(isEndless ? .max : end), isIncluded)
    return shared.read(token) { core, _ in
      let source = QuerySource<T>(QueryHub(engine, demand, core).node, shared)
      return EntityObserver(
        DerivedSource(source, core, isSame: { $0.isSame(as: $1) }) { engine.results(of: $0) })
    }
  }
}
