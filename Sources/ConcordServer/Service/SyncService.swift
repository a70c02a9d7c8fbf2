#if Server
  import Concord
  import ConcordSync
  public import Foundation
  public import Hummingbird
  public import ServiceLifecycle

  /// The server's half of synchronisation: it decides actions, and tells devices what concerns their users.
  ///
  /// ```swift
  /// let service = SyncService(container, actions: [AddToCart.self]) { request in try await users.who(request.headers[.authorization]) }
  /// service.publish("orders", of: Order.self) { user, parameters in
  ///   let id = user.id
  ///   return #Predicate<Order> { $0.customer == id }
  /// }
  /// service.allow(AddToCart.self) { action, user in action.customer == user.id }
  /// service.addRoutes(to: router, path: "sync")
  /// ```
  ///
  /// The container has one store, which keeps the truth. Any number of servers may share a store: none keeps anything that it cannot
  /// read there again.
  public final class SyncService<User: Identifiable & Sendable>: Service, Sendable where User.ID: Sendable {
    let container: any PersistentContainer
    let limits: SyncLimits
    let authenticate: @Sendable (Request) async throws -> User?
    let actions: ServerActions<User>
    let publications = Locked<[String: Publication<User>]>([:])
    let live = LiveFeed()
    /// By entity, the columns of all that comes with it.
    let schemas = Locked<[EntityDescription: String]>([:])
    let workers: Workers
    let rates: RequestRates
    /// The attached store, once the service is prepared.
    private let prepared = Locked<Prepared?>(nil)

    /// The store that keeps the truth, and its key.
    struct Prepared: Sendable {
      let store: PersistentStore
      let seal: SyncSeal
    }

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - container: the container of the store that keeps the truth, attached before the first request.
    ///   - actions: the actions that the service decides.
    ///   - limits: the limits of requests.
    ///   - authenticate: a closure that returns the user of a request; `nil` if it has none. An error counts as none.
    public init(
      _ container: any PersistentContainer, actions: [any SyncAction.Type], limits: SyncLimits = SyncLimits(),
      authenticate: @escaping @Sendable (Request) async throws -> User?
    ) {
      (self.container, self.limits, self.authenticate) = (container, limits, authenticate)
      self.actions = ServerActions(actions)
      workers = Workers(count: limits.concurrentRequests)
      rates = RequestRates(limits)
    }

    /// Publishes entities of a type: those for which a predicate holds, which is made for each user from the parameters of the
    /// subscription. What they contain comes with them.
    ///
    /// An error that the closure throws refuses the subscription, with its description as the reason.
    public func publish<T: PersistentEntity>(
      _ name: String, of type: T.Type,
      _ predicate: @escaping @Sendable (User, SyncParameters) throws -> Predicate<T>
    ) {
      publications.withLock { $0[name] = Publication(of: type, predicate) }
    }

    /// Allows users to forward actions of a type, where a rule holds. Actions without a rule are refused.
    public func allow<A: SyncAction>(_ type: A.Type, _ rule: @escaping @Sendable (A, User) throws -> Bool) {
      actions.allow(type) { action, user, _ in try rule(action, user) }
    }

    /// Allows users to forward actions of a type, where a rule holds that looks at what is stored: the entities that the action names,
    /// with all they contain.
    public func allow<A: SyncAction>(_ type: A.Type, _ rule: @escaping @Sendable (A, User, EntityStore) throws -> Bool)
    {
      actions.allow(type, rule)
    }

    /// Tells devices of changes until the service is shut down. Requests that wait are answered then.
    public func run() async throws {
      try await workers.run { [self] in _ = try prepare() }
      try? await gracefulShutdown()
      live.end()
    }

    /// Begins the store's feed, once.
    func prepare() throws -> Prepared {
      try prepared.withLock { prepared in
        if let prepared { return prepared }
        let stores = container.persistentStoreCoordinator.persistentStores
        guard stores.count == 1, let store = stores.first else {
          throw StoreError.storeFailed(
            store: container.name, reason: "a server needs one attached store, and has \(stores.count)")
        }
        try store.rows.startFeed(limits.feed)
        let seal = SyncSeal(key: try SyncSeal.key(of: store.rows), isHiding: limits.hidesPositions)
        live.follow(store.rows, container.model)
        let found = Prepared(store: store, seal: seal)
        prepared = found
        return found
      }
    }

    /// The text by which a user is noted.
    func text(of user: User) -> String { "\(user.id)" }
  }
#endif
