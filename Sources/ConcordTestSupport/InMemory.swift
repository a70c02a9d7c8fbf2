public import ConcordConnect

extension GenericPersistentContainer {
  /// Returns a container with a store in memory, which exists as long as the container.
  ///
  /// - Throws: an error of attaching the store, which happens only if stores in memory are opened by a closure of the
  ///   app's own.
  public static func inMemory(
    _ model: Model, asyncErrorBlock: AsyncErrorHandlerBlock? = nil
  ) throws -> GenericPersistentContainer {
    let container = GenericPersistentContainer(name: model.name, model: model, asyncErrorBlock: asyncErrorBlock)
    try container.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    return container
  }
}

extension GenericConnect {
  /// Returns a connect, not started yet, with a store in memory, which exists until the connect is stopped.
  ///
  /// - Throws: an error of attaching the store, which happens only if stores in memory are opened by a closure of the
  ///   app's own.
  public static func inMemory(
    _ model: Model, asyncErrorBlock: AsyncErrorHandlerBlock? = nil, clock: any Clock<Duration> = ContinuousClock(),
    reachability: any Reachability = SystemReachability(), transport: (any Transport)? = nil,
    forwarding: [any ForwardAction.Type] = [], outboxPolicy: OutboxPolicy = OutboxPolicy()
  ) throws -> GenericConnect {
    let connect = GenericConnect(
      name: model.name, model: model, asyncErrorBlock: asyncErrorBlock, clock: clock, reachability: reachability,
      transport: transport, forwarding: forwarding, outboxPolicy: outboxPolicy)
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    return connect
  }
}
