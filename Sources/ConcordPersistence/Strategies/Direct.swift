extension ContextStrategy {
  /// A strategy whose contexts all save to the stores, after which the view is updated.
  ///
  /// ```
  /// background contexts ──save──▶ stores ◀──save── view
  ///                                 └───merged────▶ view
  /// ```
  // Unchecked, because its class above is; what it adds never changes.
  public final class Direct: ContextStrategy, ContextStrategyType, @unchecked Sendable {
    public let viewContext: ViewContext

    public required init(
      persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock
    ) {
      viewContext = ViewContext(parent: persistentStoreCoordinator, errorHandler: errorHandler)
      super.init(persistentStoreCoordinator: persistentStoreCoordinator, errorHandler: errorHandler)
    }

    public func newBackgroundContext<Context: BackgroundContext>() -> Context {
      Context(parent: persistentStoreCoordinator)
    }
  }
}
