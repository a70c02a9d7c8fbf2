extension ContextStrategy {
  /// A strategy whose background contexts save to the stores, after which the view is updated, and whose view saves to the
  /// root, which writes in the background.
  ///
  /// ```
  /// background contexts ──save──▶ stores ◀──in the background── root ◀──save── view
  ///                                 └──────────merged─────────────────────────▶ view
  /// ```
  // Unchecked, because its class above is; what it adds never changes.
  public final class Mixed: ContextStrategy, ContextStrategyType, @unchecked Sendable {
    public let viewContext: ViewContext
    private let rootContext: RootContext

    public required init(
      persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock
    ) {
      rootContext = RootContext(parent: persistentStoreCoordinator, errorHandler: errorHandler)
      viewContext = ViewContext(parent: rootContext, errorHandler: errorHandler)
      super.init(persistentStoreCoordinator: persistentStoreCoordinator, errorHandler: errorHandler)
    }

    public func newBackgroundContext<Context: BackgroundContext>() -> Context {
      Context(parent: persistentStoreCoordinator)
    }

    public func writePendingChanges() throws { try rootContext.writePendingChanges() }
  }
}
