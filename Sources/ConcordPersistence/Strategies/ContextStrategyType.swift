/// A strategy that connects the contexts of a container: it defines where a save goes, and which contexts are updated by it.
///
/// A strategy is a subclass of ``ContextStrategy``. It creates contexts with the parents that they read from and save to:
///
/// ```swift
/// final class Isolated: ContextStrategy, ContextStrategyType, @unchecked Sendable {
///   let viewContext: ViewContext
///
///   required init(
///     persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock
///   ) {
///     viewContext = ViewContext(parent: persistentStoreCoordinator, isKeptUpToDate: false, errorHandler: errorHandler)
///     super.init(persistentStoreCoordinator: persistentStoreCoordinator, errorHandler: errorHandler)
///   }
///
///   func newBackgroundContext<Context: BackgroundContext>() -> Context { Context(parent: persistentStoreCoordinator) }
/// }
/// ```
public protocol ContextStrategyType: AnyObject, Sendable {
  /// Creates a strategy for a container.
  ///
  /// - Parameters:
  ///   - persistentStoreCoordinator: the coordinator of the container's stores.
  ///   - errorHandler: a closure that receives errors from background work.
  init(
    persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock)

  /// The context that screens observe.
  var viewContext: ViewContext { get }

  /// Creates a context for background work.
  func newBackgroundContext<Context: BackgroundContext>() -> Context

  /// Writes pending saves to the stores, and returns when they are durable. The default does nothing.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if a save cannot be written now; it stays pending.
  func writePendingChanges() throws
}

extension ContextStrategyType {
  public func writePendingChanges() throws {}
}

/// The base class of strategies, which contains the built-in ones.
// Unchecked, as an open class has to be; its state never changes.
open class ContextStrategy: @unchecked Sendable {
  /// The coordinator of the container's stores.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The closure that receives errors from background work.
  public let errorHandler: AsyncErrorHandlerBlock

  /// Creates a strategy for a container.
  ///
  /// - Parameters:
  ///   - persistentStoreCoordinator: the coordinator of the container's stores.
  ///   - errorHandler: a closure that receives errors from background work.
  public required init(
    persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock
  ) {
    self.persistentStoreCoordinator = persistentStoreCoordinator
    self.errorHandler = errorHandler
  }
}
