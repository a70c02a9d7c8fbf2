extension EntityObserver {
  /// Calls back with the committed value, and then with the values of the transactions that change it: in commit order, one
  /// at a time.
  ///
  /// ```swift
  /// let subscription = observer.observe { book in print(book.title) }
  /// let history = observer.observe(buffering: .every) { book in log.append(book) }
  /// ```
  ///
  /// A closure written in an actor, or in anything isolated to the main actor, belongs to that actor and is called on it. Any
  /// other is called on the queue the store was made with or, with ``EntityStore/Delivery/immediate``, on the thread that
  /// commits, and must be `Sendable`.
  ///
  /// The first call comes on the calling thread before `observe` returns; where the closure belongs to another actor than the
  /// caller, in that actor's turn. With ``FirstCall/inTurn`` it comes where the later ones do.
  ///
  /// - Parameters:
  ///   - buffering: which states count when the observer is slower than the writers.
  ///   - firstCall: where the first call comes.
  ///   - isolation: the caller's actor. Not to be passed: the compiler does.
  ///   - onChange: is called with each value.
  /// - Returns: a subscription, which has to be kept.
  /// - Complexity: constant, plus what changed below since the value was last read.
  @inlinable public func observe(
    buffering: Buffering = .newestOnly, firstCall: FirstCall = .atOnce, isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext onChange: @escaping @isolated(any) @Sendable (Value) -> Void
  ) -> Subscription {
    let (line, isHere) = source.shared.lines.line(of: onChange.isolation, calledFrom: isolation)
    return source.subscribe(line, buffering, isHere: isHere && firstCall == .atOnce, withoutIsolation(onChange))
  }

  /// The same on the main actor, whatever the store's queue.
  ///
  /// ```swift
  /// let subscription = observer.observe(on: MainActor.shared) { label.text = $0.title }
  /// ```
  @MainActor
  @inlinable public func observe(
    on actor: MainActor, buffering: Buffering = .newestOnly, onChange: @escaping @MainActor @Sendable (Value) -> Void
  ) -> Subscription {
    source.subscribe(source.shared.lines.main, buffering) { value in
      // The first call comes from here, later ones from the main queue.
      MainActor.assumeIsolated { onChange(value) }
    }
  }

  /// Follows one part of the value: calls back at once, and then only when that part is another.
  ///
  /// ```swift
  /// let subscription = observer.observe(\.title) { title in print(title) }
  /// ```
  public func observe<Part: Equatable & Sendable>(
    _ part: any KeyPath<Value, Part> & Sendable, buffering: Buffering = .newestOnly, firstCall: FirstCall = .atOnce,
    isolation: isolated (any Actor)? = #isolation,
    @_inheritActorContext onChange: @escaping @isolated(any) @Sendable (Part) -> Void
  ) -> Subscription {
    let (line, isHere) = source.shared.lines.line(of: onChange.isolation, calledFrom: isolation)
    let onChange = withoutIsolation(onChange)
    let last = LastTold<Part> { $0 == $1 }
    return source.subscribe(line, buffering, isHere: isHere && firstCall == .atOnce) { value in
      let present = value[keyPath: part]
      if last.changes(to: present) { onChange(present) }
    }
  }
}
