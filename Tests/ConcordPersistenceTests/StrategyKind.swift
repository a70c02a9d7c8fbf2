import Concord
import ConcordPersistence
import Foundation
import Testing

/// Every strategy, with one of a user's: a test that takes it is run with each.
enum StrategyKind: String, CaseIterable, CustomTestStringConvertible {
  case direct, directIndependent, indirectNested, mixed, usersOwn

  var testDescription: String { rawValue }

  var isKeptUpToDate: Bool { self != .directIndependent }
  var backgroundSavesToDisk: Bool { self != .indirectNested }
  var viewSavesToDisk: Bool { self != .indirectNested && self != .mixed }

  func container(
    _ model: Model, named name: String = "Library", asyncErrorBlock: AsyncErrorHandlerBlock? = nil
  ) -> any PersistentContainer {
    switch self {
    case .direct:
      GenericPersistentContainer<ContextStrategy.Direct>(name: name, model: model, asyncErrorBlock: asyncErrorBlock)
    case .directIndependent:
      GenericPersistentContainer<ContextStrategy.DirectIndependent>(
        name: name, model: model, asyncErrorBlock: asyncErrorBlock)
    case .indirectNested:
      GenericPersistentContainer<ContextStrategy.IndirectNested>(
        name: name, model: model, asyncErrorBlock: asyncErrorBlock)
    case .mixed:
      GenericPersistentContainer<ContextStrategy.Mixed>(name: name, model: model, asyncErrorBlock: asyncErrorBlock)
    case .usersOwn:
      GenericPersistentContainer<CountingStrategy>(name: name, model: model, asyncErrorBlock: asyncErrorBlock)
    }
  }

  /// A container with one store, whose files go at the end of the body.
  func withContainer<R>(
    _ kind: StoreKind, model: Model? = nil, asyncErrorBlock: AsyncErrorHandlerBlock? = nil,
    _ body: (any PersistentContainer) async throws -> R
  ) async throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try container(model ?? libraryModel(), asyncErrorBlock: asyncErrorBlock)
    let store = try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
    defer { try? container.detach(persistentStore: store) }
    return try await body(container)
  }
}

extension StoreKind {
  var type: StoreType {
    switch self {
    case .memory: .inMemory
    #if Persistence
      case .sqlite: .sqlite
    #endif
    #if PostgreSQL
      case .postgreSQL: StoreKind.postgreSQLType
    #endif
    }
  }

  /// With each strategy.
  static var combinations: [(StoreKind, StrategyKind)] {
    allCases.flatMap { kind in StrategyKind.allCases.map { (kind, $0) } }
  }

  /// The same for tests of many steps.
  static var combinationsOfManySteps: [(StoreKind, StrategyKind)] {
    combinations.filter { $0.isForManySteps || $1 == .mixed }
  }
}

/// What a user may write: direct, and it counts the contexts that it makes.
final class CountingStrategy: ContextStrategy, ContextStrategyType, @unchecked Sendable {
  let viewContext: ViewContext
  let count = Locked(0)

  required init(
    persistentStoreCoordinator: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock
  ) {
    viewContext = ViewContext(
      parent: persistentStoreCoordinator, delivery: .immediate, errorHandler: errorHandler)
    super.init(persistentStoreCoordinator: persistentStoreCoordinator, errorHandler: errorHandler)
  }

  func newBackgroundContext<Context: BackgroundContext>() -> Context {
    count.withLock { $0 += 1 }
    return Context(parent: persistentStoreCoordinator)
  }
}

/// A type of store of a user's: keeps rows in another one, in memory unless said otherwise, lets writers wait, and fails when it
/// is told to.
final class GateStore: RowStore {
  let inner: any RowStore
  /// How often somebody was let write.
  let writes = Locked(0)
  private let gate = NSCondition()
  private let state = Locked((isClosed: false, isClosedBehind: false, error: StoreError?.none))

  init(_ inner: any RowStore) { self.inner = inner }
  convenience init(name: String) { self.init(MemoryStore(name: name)) }

  var name: String { inner.name }

  func closeGate() { set { $0.isClosed = true } }
  /// Lets writers write, and wait afterwards.
  func closeGateBehind() { set { $0.isClosedBehind = true } }
  func openGate() { set { ($0.isClosed, $0.isClosedBehind) = (false, false) } }
  /// Lets all writes fail; `nil` ends it.
  func fail(with error: StoreError?) { set { $0.error = error } }

  private func set(_ body: (inout (isClosed: Bool, isClosedBehind: Bool, error: StoreError?)) -> Void) {
    gate.lock()
    state.withLock(body)
    gate.broadcast()
    gate.unlock()
  }

  func read<R>(_ body: (any RowReading) throws -> R) throws -> R { try inner.read(body) }

  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    writes.withLock { $0 += 1 }
    wait { state.withLock { $0.isClosed } }
    if let error = state.withLock({ $0.error }) { throw error }
    defer { wait { state.withLock { $0.isClosedBehind } } }
    return try inner.write(origin: origin, body)
  }

  private func wait(while isClosed: () -> Bool) {
    gate.lock()
    while isClosed() { gate.wait() }
    gate.unlock()
  }

  func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
    inner.observeCommits(body)
  }
  func settle() { inner.settle() }
  func close() throws { try inner.close() }

  static let type: StoreType = "Gate"

  /// Attaches one to a container.
  static func attach(
    to container: any PersistentContainer, configuration: String? = nil
  ) throws -> (store: PersistentStore, gate: GateStore) {
    StoreFactory.register(type) { GateStore(name: $0.name) }
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-gate")
    let store = try container.attachPersistentStore(
      at: folder, for: StoreConfiguration(name: configuration, type: type))
    return (store, try #require(store.rows as? GateStore))
  }
}

/// Waits until something holds, for 4,000 pauses of 5 milliseconds at most: 20 seconds on an idle machine.
func eventually(_ condition: () throws -> Bool) async throws -> Bool {
  for _ in 0..<4000 {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return false
}

extension PersistentContainer {
  /// What the stores have, whatever contexts hold.
  func stored<T: PersistentEntity>(_ type: T.Type, id: T.ID) throws -> T? {
    try BackgroundContext(parent: persistentStoreCoordinator).find(type, id: id)
  }
}
