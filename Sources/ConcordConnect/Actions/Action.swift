public import ConcordPersistence

/// Work that a ``Connect`` executes, and that can be cancelled: a ``GenericAction`` or an ``EntityAction``.
public protocol Action: SendableMetatype {
  /// Called once when the action is to end early: before it begins, or while it runs.
  ///
  /// It runs on the thread that cancels, beside `execute`, so what both use needs a lock, or an `Atomic`. The task of the action is
  /// cancelled, too; an action that asks `Task.isCancelled` needs no `cancel()`.
  func cancel()
}

extension Action {
  public func cancel() {}
}

/// Work of any kind.
///
/// ```swift
/// final class Ping: GenericAction {
///   func execute() async throws { try await Task.sleep(for: .seconds(1)) }
/// }
/// let proxy = try connect.execute(Ping())
/// ```
///
/// A class need not be `Sendable`: it is handed over, and nobody else uses it afterwards.
public protocol GenericAction: Action {
  /// The work. It may be a plain function, and then may block its thread, which is none of Swift's concurrency.
  ///
  /// - Throws: whatever it likes; the ``ActionProxy`` has it. `CancellationError` means that it was cancelled.
  func execute() async throws
}

/// Work on entities of one type. Actions for one type are executed strictly one after another.
///
/// ```swift
/// final class RefreshBooks: EntityAction {
///   typealias ManagedObjectType = Book
///
///   func execute(context: ActionContext) async throws {
///     try context.merge(objects: try await fetchBooks(), for: Book.self)
///   }
/// }
/// ```
public protocol EntityAction: Action {
  /// The type of the entities, which is what the action waits in line with.
  associatedtype ManagedObjectType: PersistentEntity

  /// The work. It may be a plain function, and then may block its thread.
  ///
  /// - Parameter context: a scratchpad of its own, which counts what is done in it. What is not saved is gone afterwards.
  func execute(context: ActionContext) async throws
}
