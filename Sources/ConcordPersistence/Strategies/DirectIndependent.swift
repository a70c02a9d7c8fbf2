extension ContextStrategy {
  /// Both kinds of contexts save to the stores. The view hears nothing of it: it shows what others saved when it reads again.
  ///
  /// ```
  /// background contexts ──save──▶ stores ◀──save── view
  /// ```
  // Unchecked, because its class above is; what it adds never changes.
  public final class DirectIndependent: ContextStrategy, ContextStrategyType, @unchecked Sendable {
    public let viewContext: ViewContext

    public required init(
      persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock
    ) {
      viewContext = ViewContext(
        parent: persistentStoreCoordinator, isKeptUpToDate: false, errorHandler: errorHandler)
      super.init(persistentStoreCoordinator: persistentStoreCoordinator, errorHandler: errorHandler)
    }

    public func newBackgroundContext<Context: BackgroundContext>() -> Context {
      Context(parent: persistentStoreCoordinator)
    }
  }
}
