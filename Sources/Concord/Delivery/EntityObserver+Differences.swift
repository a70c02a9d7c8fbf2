extension EntityObserver where Value: Collection, Value.Element: Identifiable & Sendable {
  /// What is inserted, removed, moved and updated in the collection, as an asynchronous sequence. The first element inserts
  /// all that is there.
  ///
  /// ```swift
  /// for await difference in store.observer(all: Book.self).differences { print(difference.inserted.count) }
  /// ```
  ///
  /// Each difference is to the state that the reader was given before: what a slow reader missed is in the next one, and
  /// what cancels itself out meanwhile is in none. Each iteration follows on its own, keeps what is observed alive, and
  /// ends only when its task is cancelled. An alias may name no collection: `map { $0 ?? [] }.differences`.
  ///
  /// - Complexity: O(*n* log *n*) a difference. Each iteration keeps the collection that it was given last.
  public var differences: EntityDifferences<Value> { EntityDifferences(values: values) }

  /// Calls back with what is inserted, removed, moved and updated: at once with all as inserted, and then with each difference
  /// to the state before.
  ///
  /// ```swift
  /// let subscription = books.observeDifferences { difference in print(difference.updated.map(\.new.title)) }
  /// ```
  ///
  /// Where it is called, and when for the first time, is as with ``observe(buffering:firstCall:isolation:onChange:)``.
  ///
  /// - Complexity: O(*n* log *n*) a call. The subscription keeps the collection that was told last.
  public func observeDifferences(
    buffering: Buffering = .newestOnly, firstCall: FirstCall = .atOnce, isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext onChange: @escaping @isolated(any) @Sendable (EntityDifference<Value.Element>) -> Void
  ) -> Subscription {
    let (line, isHere) = source.shared.lines.line(of: onChange.isolation, calledFrom: isolation)
    let onChange = withoutIsolation(onChange)
    let last = Locked<[Value.Element]?>(nil)
    return source.subscribe(line, buffering, isHere: isHere && firstCall == .atOnce) { value in
      let new = Array(value)
      let old = last.withLock { last in
        defer { last = new }
        return last
      }
      let difference = EntityDifference(from: old, to: new)
      if difference.isInitial || !difference.isEmpty { onChange(difference) }
    }
  }
}

/// The differences between the states of a collection; see ``EntityObserver/differences``.
public struct EntityDifferences<Value: Collection & Sendable>: AsyncSequence, Sendable
where Value.Element: Identifiable & Sendable {
  let values: EntityValues<Value>

  public typealias Failure = Never

  public func makeAsyncIterator() -> Iterator { Iterator(values: values.makeAsyncIterator()) }

  /// Goes through the differences to what it gave before.
  public struct Iterator: AsyncIteratorProtocol {
    var values: EntityValues<Value>.AsyncIterator
    private var last: [Value.Element]?

    init(values: EntityValues<Value>.AsyncIterator) { self.values = values }

    public mutating func next() async -> EntityDifference<Value.Element>? { await next(isolation: nil) }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> EntityDifference<Value.Element>? {
      while let value = await values.next(isolation: actor) {
        let difference = EntityDifference(from: last, to: Array(value))
        last = difference.elements
        if difference.isInitial || !difference.isEmpty { return difference }
      }
      return nil
    }
  }
}
