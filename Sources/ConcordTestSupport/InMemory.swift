public import ConcordConnect

extension GenericPersistentContainer {
  /// A container with a store in memory, which is gone with it.
  public static func inMemory(
    _ model: Model, asyncErrorBlock: AsyncErrorHandlerBlock? = nil
  ) throws -> GenericPersistentContainer {
    let container = GenericPersistentContainer(name: model.name, model: model, asyncErrorBlock: asyncErrorBlock)
    try container.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    return container
  }
}

extension GenericConnect {
  /// A connect with a store in memory, which is gone when it is stopped. It is not started.
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
