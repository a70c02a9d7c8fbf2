/// How the contexts of a container are connected: where a save goes, and who hears of it.
///
/// A strategy is a class; ``ContextStrategy`` is one to subclass. It makes its contexts with the parents that they read from and
/// save to:
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
  ///   - persistentStoreCoordinator: the stores of the container.
  ///   - errorHandler: is to be told of errors in the background.
  init(
    persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock)

  /// What screens observe.
  var viewContext: ViewContext { get }

  /// A new scratchpad.
  func newBackgroundContext<Context: BackgroundContext>() -> Context

  /// Returns when all is written that was saved and is not on disk yet. Nothing, unless said otherwise.
  func writePendingChanges() throws
}

extension ContextStrategyType {
  public func writePendingChanges() throws {}
}

/// A class to make strategies of, and where the built-in ones are found.
// Unchecked, because a class that can be inherited from has to be; what it has never changes.
open class ContextStrategy: @unchecked Sendable {
  /// The coordinator of the container's stores.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The closure that receives errors from background work.
  public let errorHandler: AsyncErrorHandlerBlock

  /// Creates a strategy for a container.
  public required init(
    persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock
  ) {
    self.persistentStoreCoordinator = persistentStoreCoordinator
    self.errorHandler = errorHandler
  }
}
