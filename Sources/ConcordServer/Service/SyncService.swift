#if Server
  import Concord
  import ConcordSync
  public import Foundation
  public import Hummingbird
  public import Logging
  public import Metrics
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
    let live: LiveFeed
    let metrics: SyncMetrics
    let log: ServerLog
    let clock: ServiceClock
    /// By entity, the columns of all that comes with it.
    let schemas = Locked<[EntityDescription: String]>([:])
    let workers: Workers
    let requests: RequestsInProgress
    let unread = UnreadBytes()
    let check: StoreCheck
    let rates: RequestRates
    private let preparing: PreparedStore

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - container: the container of the store that keeps the truth, attached before the first request.
    ///   - actions: the actions that the service decides.
    ///   - limits: the limits of requests.
    ///   - metrics: the system of metrics that the service reports to; that of the process, unless said otherwise.
    ///   - logger: a logger for what whoever operates the server has to mend, and for when the service begins and ends.
    ///   - clock: the clock of the requests that wait and of `SyncLimits.requestsPerSecond`; a test can pass one that it moves. The deadlines of
    ///     connections are the system's.
    ///   - authenticate: a closure that returns the user of a request; `nil` if it has none. An error counts as none, and its type is logged.
    public init(
      _ container: any PersistentContainer, actions: [any SyncAction.Type], limits: SyncLimits = SyncLimits(),
      metrics: any MetricsFactory = MetricsSystem.factory, logger: Logger = Logger(label: "concord.sync"),
      clock: any Clock<Duration> = ContinuousClock(), authenticate: @escaping @Sendable (Request) async throws -> User?
    ) {
      (self.container, self.limits, self.authenticate) = (container, limits, authenticate)
      let log = ServerLog(logger)
      self.log = log
      self.clock = ServiceClock(clock)
      self.actions = ServerActions(actions)
      let metrics = SyncMetrics(metrics)
      self.metrics = metrics
      live = LiveFeed(metrics)
      workers = Workers(count: limits.concurrentRequests, ofUser: limits.concurrentRequestsOfUser, metrics)
      requests = RequestsInProgress(limits)
      rates = RequestRates(limits)
      let preparing = PreparedStore(container, limits, live)
      self.preparing = preparing
      check = StoreCheck {
        do { _ = try preparing.prepare().store.rows.read { try $0.position() } } catch {
          log.failure(error)
          throw error
        }
      }
    }

    /// Publishes entities of a type: those for which a predicate holds, which is made for each user from the parameters of the
    /// subscription. What they contain comes with them.
    ///
    /// A device whose predicate has another value than before gets all of the subscription again. So a date that moves on is rounded, and the predicate changes once
    /// a day, not with each request:
    ///
    /// ```swift
    /// service.publish("recent", of: Order.self) { user, _ in
    ///   let today = (Date.now.timeIntervalSinceReferenceDate / 86_400).rounded(.down)
    ///   let (id, since) = (user.id, Date(timeIntervalSinceReferenceDate: (today - 30) * 86_400))
    ///   return #Predicate<Order> { $0.customer == id && $0.placed >= since }
    /// }
    /// ```
    ///
    /// An error that the closure throws refuses the subscription, with its description as the reason, and takes its rows from the device.
    /// An error of a store that may pass, or a `CancellationError`, does not: the device keeps them, and asks again.
    ///
    /// - Parameters:
    ///   - name: the name by which devices subscribe.
    ///   - type: the type of the entities.
    ///   - predicate: a closure that receives the user and the parameters of a subscription and returns the condition
    ///     of its entities. It is called again and again, on any thread.
    public func publish<T: PersistentEntity>(
      _ name: String, of type: T.Type,
      _ predicate: @escaping @Sendable (User, SyncParameters) throws -> Predicate<T>
    ) {
      publications.withLock { $0[name] = Publication(of: type, predicate) }
    }

    /// Allows users to forward actions of a type, where a rule holds. Actions without a rule are refused.
    ///
    /// An error that the rule throws refuses the action, with its description as the reason. An error of a store that may pass, or a
    /// `CancellationError`, does not: the device sends the action again.
    ///
    /// - Parameters:
    ///   - type: the type of the actions.
    ///   - rule: a closure that receives an action and its user, and returns whether the action is allowed. It is
    ///     called on any thread.
    public func allow<A: SyncAction>(_ type: A.Type, _ rule: @escaping @Sendable (A, User) throws -> Bool) {
      actions.allow(type) { action, user, _ in try rule(action, user) }
    }

    /// Allows users to forward actions of a type, where a rule holds that looks at what is stored: the entities that the action names,
    /// with all they contain.
    ///
    /// The errors of the rule mean the same as those of a rule without a store.
    ///
    /// - Parameters:
    ///   - type: the type of the actions.
    ///   - rule: a closure that receives an action, its user, and a store with the entities, and returns whether the action is allowed. What it
    ///     writes into the store is undone before the action is applied, and is not stored. It is called on any thread.
    public func allow<A: SyncAction>(_ type: A.Type, _ rule: @escaping @Sendable (A, User, EntityStore) throws -> Bool)
    {
      actions.allow(type, rule)
    }

    /// Tells devices of changes until the service is shut down. Requests that wait are answered then, and none waits from then on.
    ///
    /// - Throws: ``/ConcordModel/StoreError`` if the feed of the store cannot begin, as where the role has no rights to, or a table is missing.
    ///   A database that cannot be reached at the moment, as one that starts again, is no error: the first request that finds it begins the
    ///   feed.
    public func run() async throws {
      do { try await beginFeed() } catch {
        if !(error is CancellationError) { log.cannotBegin(error) }
        throw error
      }
      log.begin(publications: publications.withLock { Array($0.keys) })
      try? await gracefulShutdown()
      live.end()
      log.end()
    }

    private func beginFeed() async throws {
      // Whether a database can be reached is asked after it could not be read, by when it may be back.
      for isLast in [false, false, true] {
        do {
          return try await workers.run(for: "", .pages) { [self] in _ = try prepare() }
        } catch  where StoreError.mayPass(error) && !isLast {
          guard let store = container.persistentStoreCoordinator.persistentStores.first else { throw error }
          if try await !workers.run(for: "", .pages, { store.rows.isReachable }) {
            return log.beginUnreachable(error)
          }
          try await Task.sleep(for: .milliseconds(200))
        }
      }
    }

    /// Begins the store's feed, once.
    func prepare() throws -> PreparedStore.Found { try preparing.prepare() }

    /// The text by which a user is noted. Ids that are equal texts in several forms have one.
    func text(of user: User) -> String { "\(user.id)".canonicallyComposed }
  }
#endif
