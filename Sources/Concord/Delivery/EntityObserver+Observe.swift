extension EntityObserver {
  /// Calls a closure with the committed value, and then with the value after each transaction that changes it, in commit
  /// order, one call at a time.
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
  /// The first call is made on the calling thread before `observe` returns, or, if the closure belongs to another actor than
  /// the caller, on that actor. With ``FirstCall/inTurn`` it is made where the later calls are.
  ///
  /// - Parameters:
  ///   - buffering: the states that the closure receives when it is slower than the writers.
  ///   - firstCall: the place of the first call.
  ///   - isolation: the caller's actor, which the compiler passes.
  ///   - file: the file of the call, which the compiler passes, and an inspector shows.
  ///   - lineNumber: the line of the call.
  ///   - onChange: a closure that receives each value.
  /// - Returns: a subscription, which ends when it is released.
  /// - Complexity: constant, plus the changes inside the entity since it was last read.
  @inlinable public func observe(
    buffering: Buffering = .newestOnly, firstCall: FirstCall = .atOnce, isolation: isolated (any Actor)? = #isolation,
    file: StaticString = #fileID, line lineNumber: UInt = #line,
    @_inheritActorContext onChange: @escaping @isolated(any) @Sendable (Value) -> Void
  ) -> Subscription {
    let (line, isHere) = source.shared.lines.line(of: onChange.isolation, calledFrom: isolation)
    return source.subscribe(
      line, buffering, isHere: isHere && firstCall == .atOnce, at: CallSite(file, lineNumber),
      withoutIsolation(onChange))
  }

  /// Calls a closure on the main actor with the committed value, and then with the value after each transaction that changes
  /// it.
  ///
  /// ```swift
  /// let subscription = observer.observe(on: MainActor.shared) { label.text = $0.title }
  /// ```
  ///
  /// - Parameters:
  ///   - actor: the main actor.
  ///   - buffering: the states that the closure receives when it is slower than the writers.
  ///   - file: the file of the call, which the compiler passes, and an inspector shows.
  ///   - lineNumber: the line of the call.
  ///   - onChange: a closure that receives each value. The first call is made before `observe` returns.
  /// - Returns: a subscription, which ends when it is released.
  @MainActor
  @inlinable public func observe(
    on actor: MainActor, buffering: Buffering = .newestOnly, file: StaticString = #fileID,
    line lineNumber: UInt = #line, onChange: @escaping @MainActor @Sendable (Value) -> Void
  ) -> Subscription {
    source.subscribe(source.shared.lines.main, buffering, at: CallSite(file, lineNumber)) { value in
      // The first call is made here, later ones on the main queue.
      MainActor.assumeIsolated { onChange(value) }
    }
  }

  /// Observes one part of the value: calls a closure at once, and then only when that part has changed.
  ///
  /// ```swift
  /// let subscription = observer.observe(\.title) { title in print(title) }
  /// ```
  ///
  /// - Parameters:
  ///   - part: the key path of the part.
  ///   - buffering: the states that the closure receives when it is slower than the writers.
  ///   - firstCall: the place of the first call.
  ///   - isolation: the caller's actor, which the compiler passes.
  ///   - file: the file of the call, which the compiler passes, and an inspector shows.
  ///   - lineNumber: the line of the call.
  ///   - onChange: a closure that receives the part whenever it differs from the part that it received before, by `==`.
  /// - Returns: a subscription, which ends when it is released.
  /// - Complexity: constant, plus one comparison for each change of the value.
  public func observe<Part: Equatable & Sendable>(
    _ part: any KeyPath<Value, Part> & Sendable, buffering: Buffering = .newestOnly, firstCall: FirstCall = .atOnce,
    isolation: isolated (any Actor)? = #isolation,
    file: StaticString = #fileID, line lineNumber: UInt = #line,
    @_inheritActorContext onChange: @escaping @isolated(any) @Sendable (Part) -> Void
  ) -> Subscription {
    let (line, isHere) = source.shared.lines.line(of: onChange.isolation, calledFrom: isolation)
    let onChange = withoutIsolation(onChange)
    let last = LastTold<Part> { $0 == $1 }
    return source.subscribe(
      line, buffering, isHere: isHere && firstCall == .atOnce, at: CallSite(file, lineNumber)
    ) { value in
      let present = value[keyPath: part]
      if last.changes(to: present) { onChange(present) }
    }
  }
}
