import ConcordModel
import Dispatch

extension ViewContext {
  /// Runs a block on another thread, as one transaction, and returns at once.
  ///
  /// Blocks that are given in this way run one after the other, in the order in which they were given.
  ///
  /// - Parameter body: a block that receives the context, on a thread of the context's queue.
  public func perform(_ body: @escaping @Sendable (ViewContext) -> Void) {
    // Only the block itself could throw.
    queue.async { try? self.performAndWait { view in body(view) } }
  }

  /// Runs a block that takes nothing on another thread, as one transaction, and returns at once.
  public func perform(_ body: @escaping @Sendable () -> Void) { perform { _ in body() } }

  /// Runs a block that may throw on another thread, as one transaction, and returns at once.
  ///
  /// - Parameters:
  ///   - onError: a closure that receives what the block throws, on the thread of the block.
  ///   - body: the block.
  public func perform(
    onError: @escaping @Sendable (any Error) -> Void, _ body: @escaping @Sendable (ViewContext) throws -> Void
  ) {
    queue.async {
      do { try self.performAndWait(body) } catch { onError(error) }
    }
  }

  /// Runs a block that takes nothing and may throw on another thread, as one transaction, and returns at once.
  ///
  /// - Parameters:
  ///   - onError: a closure that receives what the block throws, on the thread of the block.
  ///   - body: the block.
  public func perform(
    onError: @escaping @Sendable (any Error) -> Void, _ body: @escaping @Sendable () throws -> Void
  ) {
    perform(onError: onError) { _ in try body() }
  }

  /// Discards all unsaved changes, and reads all shown entities again, under each strategy.
  ///
  /// - Complexity: O(*n*), where *n* is the number of observed entities.
  public func reset() {
    store.transaction { _ in
      locked {
        core.rollback()
        showAll()
      }
    }
  }
}
