import Dispatch

extension BackgroundContext {
  /// Runs a block on another thread, with exclusive use of the context, and returns at once.
  ///
  /// ```swift
  /// context.perform { context in context.insert(Book(id: "ACK", title: "Cannery Row")) }
  /// ```
  ///
  /// Blocks of one context run one after the other, in the order in which they were given. In an `async` function a call without
  /// `await` needs the closure to be stored in a constant first, since Swift prefers the method that waits.
  ///
  /// - Parameter body: a block that receives the context, on a thread of the context's queue.
  public func perform(_ body: @escaping @Sendable (BackgroundContext) -> Void) {
    queue.async { self.performAndWait(body) }
  }

  /// Runs a block that takes nothing on another thread, with exclusive use of the context, and returns at once.
  public func perform(_ body: @escaping @Sendable () -> Void) { perform { _ in body() } }

  /// Runs a block that may throw on another thread, with exclusive use of the context, and returns at once.
  ///
  /// ```swift
  /// context.perform(onError: { print($0) }) { context in
  ///   try context.update(Book.self, id: "ACK") { $0.title = "Cannery Row" }
  ///   try context.save()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - onError: a closure that receives what the block throws, on the thread of the block.
  ///   - body: the block.
  public func perform(
    onError: @escaping @Sendable (any Error) -> Void,
    _ body: @escaping @Sendable (BackgroundContext) throws -> Void
  ) {
    queue.async {
      do { try self.performAndWait(body) } catch { onError(error) }
    }
  }

  /// Runs a block that takes nothing and may throw on another thread, with exclusive use of the context, and returns at once.
  ///
  /// - Parameters:
  ///   - onError: a closure that receives what the block throws, on the thread of the block.
  ///   - body: the block.
  public func perform(
    onError: @escaping @Sendable (any Error) -> Void, _ body: @escaping @Sendable () throws -> Void
  ) {
    perform(onError: onError) { _ in try body() }
  }

  /// Discards all unsaved changes.
  ///
  /// A context caches no rows, so this is ``rollback()`` under Core Data's name.
  public func reset() { rollback() }
}
