extension ContextStrategy {
  /// A strategy whose contexts all save to the stores, without updating the view, which shows saves of other contexts when it
  /// reads again.
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
