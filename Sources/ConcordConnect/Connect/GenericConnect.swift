import Concord
public import ConcordPersistence
import Dispatch
import Foundation

/// A container, whose contexts a strategy connects, that also runs work.
///
/// ```swift
/// let connect = GenericConnect<ContextStrategy.Mixed>(name: "Library", model: model) { error in print(error) }
/// try connect.start()
/// ```
///
/// When the last reference to it goes, its actions are cancelled.
public final class GenericConnect<Strategy: ContextStrategyType>: Connect {
  let container: GenericPersistentContainer<Strategy>
  let scheduler: ActionScheduler
  let notices = ActionNotices()
  /// Starts and stops one after another.
  let life = DispatchQueue(label: "concord.connect.life")
  let lifeState = Locked(LifeState())
  /// A closure that receives errors, and returns before they are handled.
  let report: AsyncErrorHandlerBlock
  let schedules: ScheduleKeeper
  public let outbox: Outbox
  let reachability: any Reachability
  private let protectedData: ProtectedData?

  /// Creates a container with the model that is registered under its name.
  ///
  /// If there is none, ``start()`` throws ``/ConcordModel/StoreError/unknownModel(_:)``.
  ///
  /// - Parameters:
  ///   - name: the name of the model, with which the names of files begin.
  ///   - asyncErrorBlock: a closure that receives errors from background work, on any thread; if `nil`, they are
  ///     printed to standard error.
  ///   - logTag: the text with which a printed line begins.
  public convenience init(
    name: String, asyncErrorBlock: AsyncErrorHandlerBlock? = nil, logTag: String = "GenericConnect"
  ) {
    self.init(
      container: GenericPersistentContainer(name: name, asyncErrorBlock: asyncErrorBlock, logTag: logTag))
  }

  /// Creates a container with a model.
  ///
  /// - Parameters:
  ///   - name: the beginning of the files' names.
  ///   - model: the model of the stored entities.
  ///   - asyncErrorBlock: a closure that receives errors from background work; if `nil`, they are printed to standard error.
  ///   - logTag: the text with which a printed line begins.
  ///   - clock: the clock of schedules and of the outbox; a test can pass one that it moves.
  ///   - reachability: the source of changes of the network's reachability.
  ///   - transport: the transport that sends forwarded actions; see ``Outbox/transport``.
  ///   - forwarding: types of forwarded actions that may be left from an earlier run; see `outbox.register`.
  ///   - outboxPolicy: the policy of sending.
  public convenience init(
    name: String, model: Model, asyncErrorBlock: AsyncErrorHandlerBlock? = nil, logTag: String = "GenericConnect",
    clock: any Clock<Duration> = ContinuousClock(), reachability: any Reachability = SystemReachability(),
    transport: (any Transport)? = nil, forwarding: [any ForwardAction.Type] = [],
    outboxPolicy: OutboxPolicy = OutboxPolicy()
  ) {
    self.init(
      container: GenericPersistentContainer(
        name: name, model: model, asyncErrorBlock: asyncErrorBlock, logTag: logTag),
      clock: clock, reachability: reachability)
    outbox.transport = transport
    outbox.policy = outboxPolicy
    outbox.register(forwarding)
  }

  /// Creates a container with a model, by the argument label of Core Data.
  ///
  /// - Parameters:
  ///   - name: the beginning of the files' names.
  ///   - managedObjectModel: the model of the stored entities.
  ///   - asyncErrorBlock: a closure that receives errors from background work, on any thread; if `nil`, they are
  ///     printed to standard error.
  ///   - logTag: the text with which a printed line begins.
  public convenience init(
    name: String, managedObjectModel: Model, asyncErrorBlock: AsyncErrorHandlerBlock? = nil,
    logTag: String = "GenericConnect"
  ) {
    self.init(name: name, model: managedObjectModel, asyncErrorBlock: asyncErrorBlock, logTag: logTag)
  }

  init(
    container: GenericPersistentContainer<Strategy>, clock: any Clock<Duration> = ContinuousClock(),
    reachability: any Reachability = SystemReachability(), protectedData: ProtectedData.Source? = .system
  ) {
    self.container = container
    self.reachability = reachability
    // On a queue of its own: the handler may stop the connect or detach stores, and so wait for what has found the error.
    let (errors, handler) = (DispatchQueue(label: "concord.connect.errors"), container.errorHandler)
    let report: AsyncErrorHandlerBlock = { error in errors.async { handler(error) } }
    self.report = report
    schedules = ScheduleKeeper(clock: clock, reachability: reachability, report: report)
    let outbox = Outbox(
      coordinator: container.persistentStoreCoordinator, view: container.viewContext, clock: clock,
      report: report, writePendingChanges: { try container.writePendingChanges() })
    self.outbox = outbox
    let scheduler = ActionScheduler(notices: notices)
    self.scheduler = scheduler
    self.protectedData = protectedData.map { source in
      ProtectedData(source) { isAvailable in
        scheduler.set(.protectedData, !isAvailable)
        outbox.set(.protectedData, !isAvailable)
      }
    }
    notices.setSource(self)
  }

  deinit {
    schedules.stop()
    scheduler.close()
    outbox.end()
    notices.end()
  }

  public var name: String { container.name }
  public var persistentStoreCoordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }

  // MARK: Contexts

  public var viewContext: ViewContext { container.viewContext }
  public func newBackgroundContext() -> BackgroundContext { container.newBackgroundContext() }
  public func newGenericBackgroundContext<Context: BackgroundContext>() -> Context {
    container.newGenericBackgroundContext()
  }

  public func flush() async throws { try await container.flush() }

  // MARK: Stores

  @discardableResult
  public func attachPersistentStore(at url: URL, for configuration: StoreConfiguration) throws -> PersistentStore {
    let store = try container.attachPersistentStore(at: url, for: configuration)
    noteAttached([store], at: url, [configuration])
    outbox.storesDidChange()
    return store
  }

  @discardableResult
  public func attachPersistentStores(
    at url: URL, for configurations: [StoreConfiguration]
  ) throws -> [PersistentStore] {
    let configurations = configurations.isEmpty ? [StoreConfiguration()] : configurations
    let stores = try container.attachPersistentStores(at: url, for: configurations)
    noteAttached(stores, at: url, configurations)
    outbox.storesDidChange()
    return stores
  }

  public func detach(persistentStore store: PersistentStore) throws {
    let attachment = outbox.willDetach(store)
    defer {
      // Also if it was detached and could not be closed.
      if !persistentStores.contains(store) {
        lifeState.withLock { state in state.places.removeAll { $0.store == store } }
      }
      outbox.didDetach(attachment)
    }
    try container.detach(persistentStore: store)
  }

  public func detach(persistentStores stores: [PersistentStore]) throws {
    for store in stores { try detach(persistentStore: store) }
  }
}
