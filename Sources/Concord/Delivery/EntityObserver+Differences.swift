extension EntityObserver where Value: Collection, Value.Element: Identifiable & Sendable {
  /// The differences between the states of the collection as an asynchronous sequence. The first one inserts all elements.
  ///
  /// ```swift
  /// for await difference in store.observer(all: Book.self).differences { print(difference.inserted.count) }
  /// ```
  ///
  /// Each difference is relative to the state that the reader received before. So a slow reader receives the changes that it
  /// missed in the next one, and no changes that cancelled each other out. Each iteration is independent, retains the
  /// observed entities, and ends only when its task is cancelled. For an alias, which may name no collection, use `map { $0
  /// ?? [] }.differences`.
  ///
  /// - Complexity: O(*n* log *n*) a difference; of the results of a query what differs, times the logarithm of *n*. Each iteration retains the last collection that it received.
  public var differences: EntityDifferences<Value> { EntityDifferences(values: values) }

  /// Calls a closure with the differences between the states of the collection: at once with one that inserts all elements,
  /// and then with each difference to the state before.
  ///
  /// ```swift
  /// let subscription = books.observeDifferences { difference in print(difference.updated.map(\.new.title)) }
  /// ```
  ///
  /// The closure is called as that of ``observe(buffering:firstCall:isolation:file:line:onChange:)`` is.
  ///
  /// - Parameters:
  ///   - buffering: the states that the closure receives when it is slower than the writers. A difference is that to the last state received.
  ///   - firstCall: the place of the first call.
  ///   - isolation: the caller's actor, which the compiler passes.
  ///   - file: the file of the call, which the compiler passes, and an inspector shows.
  ///   - lineNumber: the line of the call.
  ///   - onChange: a closure that receives each difference.
  /// - Returns: a subscription, which ends when it is released.
  /// - Complexity: O(*n* log *n*) a call; for the results of a query what differs, times the logarithm of *n*. The subscription retains the last delivered collection.
  public func observeDifferences(
    buffering: Buffering = .newestOnly, firstCall: FirstCall = .atOnce, isolation: isolated (any Actor)? = #isolation,
    file: StaticString = #fileID, line lineNumber: UInt = #line,
    @_inheritActorContext onChange: @escaping @isolated(any) @Sendable (EntityDifference<Value.Element>) -> Void
  ) -> Subscription {
    let (line, isHere) = source.shared.lines.line(of: onChange.isolation, calledFrom: isolation)
    let onChange = withoutIsolation(onChange)
    let last = Locked<Value?>(nil)
    return source.subscribe(
      line, buffering, isHere: isHere && firstCall == .atOnce, at: CallSite(file, lineNumber)
    ) { value in
      let old = last.withLock { last in
        defer { last = value }
        return last
      }
      let difference = EntityDifference<Value.Element>.between(old, value)
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

  /// An iterator over the differences, each relative to the state that it returned before.
  public struct Iterator: AsyncIteratorProtocol {
    var values: EntityValues<Value>.AsyncIterator
    private var last: Value?

    init(values: EntityValues<Value>.AsyncIterator) { self.values = values }

    public mutating func next() async -> EntityDifference<Value.Element>? { await next(isolation: nil) }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> EntityDifference<Value.Element>? {
      while let value = await values.next(isolation: actor) {
        let difference = EntityDifference<Value.Element>.between(last, value)
        last = value
        if difference.isInitial || !difference.isEmpty { return difference }
      }
      return nil
    }
  }
}
