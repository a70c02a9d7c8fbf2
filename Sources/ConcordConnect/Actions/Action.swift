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
/// A class need not be `Sendable`: it is sent to the connect, and its former owner no longer uses it.
public protocol GenericAction: Action {
  /// Does the work. A plain function may block its thread, which does not belong to Swift's concurrency.
  ///
  /// - Throws: any error, which the ``ActionProxy`` reports. `CancellationError` means that the action was cancelled.
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

  /// Does the work. A plain function may block its thread.
  ///
  /// - Parameter context: a context of the action alone, which counts its operations. Unsaved changes are discarded
  ///   afterwards.
  /// - Throws: any error, which the ``ActionProxy`` reports. `CancellationError` means that the action was cancelled.
  func execute(context: ActionContext) async throws
}
