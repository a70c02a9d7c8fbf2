// Written out for two, three and four: the compiler (6.3) fails on the same with parameter packs.
extension EntityStore {
  /// Combines two observers into one of both values at the same time.
  ///
  /// ```swift
  /// let both = store.observer(of: book, author)
  /// print(both.value.0.title, "by", both.value.1.name)
  /// ```
  ///
  /// The values are of one committed state, or, inside a transaction, of the transaction's state. The result notifies once
  /// for each transaction that changes any of them, and retains all of them. The observers must be of this store.
  ///
  /// - Complexity: constant.
  public func observer<A: Sendable, B: Sendable>(
    of a: EntityObserver<A>, _ b: EntityObserver<B>
  ) -> EntityObserver<(A, B)> {
    let (a, b) = (a.source, b.source)
    return combine([a, b], isSame: { areSame($0.0, $1.0) && areSame($0.1, $1.1) }) { core, isCommitted in
      let (a, b) = (a.capture(core, isCommitted), b.capture(core, isCommitted))
      return { (a(), b()) }
    }
  }

  /// Observes two values at once: calls a closure with both, once for each transaction that changes any of them.
  ///
  /// ```swift
  /// let subscription = store.observe(book, author) { book, author in print(book.title, "by", author.name) }
  /// ```
  ///
  /// Where it is called, and when for the first time, is as with ``EntityObserver/observe(buffering:firstCall:isolation:file:line:onChange:)``.
  ///
  /// - Parameters:
  ///   - a: the observer of one value.
  ///   - b: the observer of another value.
  ///   - buffering: the states that the closure receives when it is slower than the writers.
  ///   - firstCall: the place of the first call.
  ///   - isolation: the caller's actor, which the compiler passes.
  ///   - file: the file of the call, which the compiler passes, and an inspector shows.
  ///   - line: the line of the call.
  ///   - onChange: a closure that receives both values, of one committed state.
  /// - Returns: a subscription, which ends when it is released.
  /// - Complexity: constant.
  public func observe<A: Sendable, B: Sendable>(
    _ a: EntityObserver<A>, _ b: EntityObserver<B>,
    buffering: Buffering = .newestOnly, firstCall: FirstCall = .atOnce, isolation: isolated (any Actor)? = #isolation,
    file: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext onChange: @escaping @isolated(any) @Sendable ((A, B)) -> Void
  ) -> Subscription {
    observer(of: a, b)
      .observe(
        buffering: buffering, firstCall: firstCall, isolation: isolation, file: file, line: line, onChange: onChange)
  }

  /// Combines three observers into one of all values at the same time. See ``observer(of:_:)``.
  public func observer<A: Sendable, B: Sendable, C: Sendable>(
    of a: EntityObserver<A>, _ b: EntityObserver<B>, _ c: EntityObserver<C>
  ) -> EntityObserver<(A, B, C)> {
    let (a, b, c) = (a.source, b.source, c.source)
    return combine([a, b, c], isSame: { areSame($0.0, $1.0) && areSame($0.1, $1.1) && areSame($0.2, $1.2) }) {
      core, isCommitted in
      let (a, b, c) = (a.capture(core, isCommitted), b.capture(core, isCommitted), c.capture(core, isCommitted))
      return { (a(), b(), c()) }
    }
  }

  /// Observes three values at once: calls a closure with all of them, once for each transaction that changes any of them.
  ///
  /// - Parameters:
  ///   - a: the observer of one value.
  ///   - b: the observer of another value.
  ///   - c: the observer of a third value.
  ///   - buffering: the states that the closure receives when it is slower than the writers.
  ///   - firstCall: the place of the first call.
  ///   - isolation: the caller's actor, which the compiler passes.
  ///   - file: the file of the call, which the compiler passes, and an inspector shows.
  ///   - line: the line of the call.
  ///   - onChange: a closure that receives all three values, of one committed state. It is called as that of two values is.
  /// - Returns: a subscription, which ends when it is released.
  public func observe<A: Sendable, B: Sendable, C: Sendable>(
    _ a: EntityObserver<A>, _ b: EntityObserver<B>, _ c: EntityObserver<C>,
    buffering: Buffering = .newestOnly, firstCall: FirstCall = .atOnce, isolation: isolated (any Actor)? = #isolation,
    file: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext onChange: @escaping @isolated(any) @Sendable ((A, B, C)) -> Void
  ) -> Subscription {
    observer(of: a, b, c)
      .observe(
        buffering: buffering, firstCall: firstCall, isolation: isolation, file: file, line: line, onChange: onChange)
  }

  /// Combines four observers into one of all values at the same time. See ``observer(of:_:)``.
  public func observer<A: Sendable, B: Sendable, C: Sendable, D: Sendable>(
    of a: EntityObserver<A>, _ b: EntityObserver<B>, _ c: EntityObserver<C>, _ d: EntityObserver<D>
  ) -> EntityObserver<(A, B, C, D)> {
    let (a, b, c, d) = (a.source, b.source, c.source, d.source)
    return combine(
      [a, b, c, d], isSame: { areSame($0.0, $1.0) && areSame($0.1, $1.1) && areSame($0.2, $1.2) && areSame($0.3, $1.3) }
    ) { core, isCommitted in
      let (a, b, c, d) = (
        a.capture(core, isCommitted), b.capture(core, isCommitted), c.capture(core, isCommitted),
        d.capture(core, isCommitted)
      )
      return { (a(), b(), c(), d()) }
    }
  }

  /// Observes four values at once: calls a closure with all of them, once for each transaction that changes any of them.
  ///
  /// - Parameters:
  ///   - a: the observer of one value.
  ///   - b: the observer of another value.
  ///   - c: the observer of a third value.
  ///   - d: the observer of a fourth value.
  ///   - buffering: the states that the closure receives when it is slower than the writers.
  ///   - firstCall: the place of the first call.
  ///   - isolation: the caller's actor, which the compiler passes.
  ///   - file: the file of the call, which the compiler passes, and an inspector shows.
  ///   - line: the line of the call.
  ///   - onChange: a closure that receives all four values, of one committed state. It is called as that of two values is.
  /// - Returns: a subscription, which ends when it is released.
  public func observe<A: Sendable, B: Sendable, C: Sendable, D: Sendable>(
    _ a: EntityObserver<A>, _ b: EntityObserver<B>, _ c: EntityObserver<C>, _ d: EntityObserver<D>,
    buffering: Buffering = .newestOnly, firstCall: FirstCall = .atOnce, isolation: isolated (any Actor)? = #isolation,
    file: StaticString = #fileID, line: UInt = #line,
    @_inheritActorContext onChange: @escaping @isolated(any) @Sendable ((A, B, C, D)) -> Void
  ) -> Subscription {
    observer(of: a, b, c, d)
      .observe(
        buffering: buffering, firstCall: firstCall, isolation: isolation, file: file, line: line, onChange: onChange)
  }

  /// Combines two observers into one of something that is made of both values.
  func combined<A: Sendable, B: Sendable, Value: Sendable>(
    _ a: EntityObserver<A>, _ b: EntityObserver<B>, isSame: @escaping @Sendable (Value, Value) -> Bool,
    by make: @escaping @Sendable (A, B) -> Value
  ) -> EntityObserver<Value> {
    let (a, b) = (a.source, b.source)
    return combine([a, b], isSame: isSame) { core, isCommitted in
      let (a, b) = (a.capture(core, isCommitted), b.capture(core, isCommitted))
      return { make(a(), b()) }
    }
  }

  private func combine<Value: Sendable>(
    _ parts: [any CombinedPart], isSame: @escaping @Sendable (Value, Value) -> Bool,
    _ take: @escaping @Sendable (StoreCore, Bool) -> @Sendable () -> Value
  ) -> EntityObserver<Value> {
    // A programming error, like an index out of range, which no data causes: two stores have no common state to read.
    precondition(parts.allSatisfy { $0.shared === shared }, "one transaction cannot change what is in several stores")
    return shared.read(token) { core, _ in
      EntityObserver(DerivedSource(CombinedSource(parts, core, shared, take), core, isSame: isSame) { $0() })
    }
  }
}

extension EntityStore {
  /// Observes the stored entities with the given ids, in the order of the ids.
  ///
  /// ```swift
  /// let subscription = store.observer(Book.self, ids: ["emma", "persuasion"]).observe { books in print(books.count) }
  /// ```
  ///
  /// The result notifies once for each transaction that changes, stores or removes any of them, and retains them.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - ids: the ids. One that is not stored has no entity in the result until it is.
  /// - Complexity: the number of ids, also for each notice and each reading.
  public func observer<T: Identifiable & Sendable>(
    _ type: T.Type, ids: some Sequence<T.ID>
  ) -> EntityObserver<[T]> {
    let ids = Array(ids)
    return shared.read(token) { core, _ in
      let table = core.graph.table(type)
      let sources = ids.map { PartSource(core.nodeToObserve($0, in: table), shared) { $0 } }
      let combined = CombinedSource(sources, core, shared) { core, isCommitted in
        let values = sources.compactMap { $0.part(core, isCommitted: isCommitted) ?? nil }
        return { values }
      }
      return EntityObserver(DerivedSource(combined, core, isSame: haveSameElements) { $0() })
    }
  }
}

/// Whether two arrays are known to have the same elements, also if these are not `Equatable`.
@Sendable func haveSameElements<T>(_ a: [T], _ b: [T]) -> Bool {
  if haveSameBits(a, b) { return true }
  guard a.count == b.count else { return false }
  let isEqual = equality(of: T.self)
  return zip(a, b).allSatisfy { haveSameBits($0, $1) || (isEqual?($0, $1) ?? false) }
}
