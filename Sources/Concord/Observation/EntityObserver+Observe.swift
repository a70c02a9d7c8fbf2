extension EntityObserver {
  /// Calls back with the committed value at once, before it returns, and then with the values of every transaction
  /// that changes it: in commit order, one at a time, on the queue the store was made with.
  ///
  /// ```swift
  /// let subscription = observer.observe { book in print(book.title) }
  /// ```
  ///
  /// - Returns: a subscription, which has to be kept.
  @inlinable public func observe(onChange: @escaping @Sendable (Value) -> Void) -> Subscription {
    source.subscribe(lane: source.engine.lanes.store, onChange)
  }

  /// The same on the main actor, whatever the store's queue: `onChange` may touch what belongs to it.
  ///
  /// ```swift
  /// let subscription = observer.observe(on: MainActor.shared) { label.text = $0.title }
  /// ```
  @MainActor
  @inlinable public func observe(
    on actor: MainActor, onChange: @escaping @MainActor @Sendable (Value) -> Void
  ) -> Subscription {
    source.subscribe(lane: source.engine.lanes.main) { value in
      // The first call comes from here, later ones from the main queue.
      MainActor.assumeIsolated { onChange(value) }
    }
  }

  /// Follows one part of the value: calls back at once, and then only when that part is another.
  ///
  /// ```swift
  /// let subscription = observer.observe(\.title) { title in print(title) }
  /// ```
  @inlinable public func observe<Part: Equatable & Sendable>(
    _ part: any KeyPath<Value, Part> & Sendable, onChange: @escaping @Sendable (Part) -> Void
  ) -> Subscription {
    let last = LastValue<Part>()
    return observe { value in
      let present = value[keyPath: part]
      if last.changes(to: present) { onChange(present) }
    }
  }
}

/// The part an observer was last told.
// Unchecked, because the compiler cannot see that only the callbacks of one observer use it: these never overlap, and each
// happens before the next, since the lane's lock is taken between them.
@usableFromInline final class LastValue<Part: Equatable & Sendable>: @unchecked Sendable {
  @usableFromInline var value: Part?

  @usableFromInline init() {}

  @inlinable func changes(to new: Part) -> Bool {
    let old = value
    value = new
    return old != new
  }
}
