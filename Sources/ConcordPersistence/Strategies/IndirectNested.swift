extension ContextStrategy {
  /// A strategy whose background contexts save to the view, and whose view saves to the root, which writes in the background.
  /// Background contexts see the view's unsaved changes, and their saves include these.
  ///
  /// ```
  /// background contexts ──save──▶ view ──save──▶ root ──in the background──▶ stores
  /// ```
  // Unchecked, because its class above is; what it adds never changes.
  public final class IndirectNested: ContextStrategy, ContextStrategyType, @unchecked Sendable {
    public let viewContext: ViewContext
    private let rootContext: RootContext

    public required init(
      persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock
    ) {
      rootContext = RootContext(parent: persistentStoreCoordinator, errorHandler: errorHandler)
      viewContext = ViewContext(parent: rootContext, errorHandler: errorHandler)
      super.init(persistentStoreCoordinator: persistentStoreCoordinator, errorHandler: errorHandler)
    }

    public func newBackgroundContext<Context: BackgroundContext>() -> Context { Context(parent: viewContext) }

    public func writePendingChanges() throws { try rootContext.writePendingChanges() }
  }
}
