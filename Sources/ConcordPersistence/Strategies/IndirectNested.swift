extension ContextStrategy {
  /// A background context saves into the view, the view to the root, and that writes in the background. Background contexts see
  /// what the view has not saved, and their save takes that along.
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
