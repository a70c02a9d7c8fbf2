import Concord
import ConcordConnect
import ConcordTestShared
import Dispatch
import Foundation
import Testing

#if PostgreSQL
  import ConcordPostgreSQL
#endif

/// Every type of store: a test that takes it is run with each.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
  case memory
  #if Persistence
    case sqlite
  #endif
  #if PostgreSQL
    case postgreSQL
  #endif

  /// All that this machine has.
  static let allCases: [StoreKind] = {
    var cases: [StoreKind] = [.memory]
    #if Persistence
      cases.append(.sqlite)
    #endif
    #if PostgreSQL
      if PostgreSQLServer.isInstalled { cases.append(.postgreSQL) }
    #endif
    return cases
  }()

  /// Those of one process. What others commit, or may have committed, makes pending changes anew.
  static var ofOneProcess: [StoreKind] {
    #if PostgreSQL
      allCases.filter { $0 != .postgreSQL }
    #else
      allCases
    #endif
  }

  /// All, but only those of one process unless `CONCORD_LONG` says so: for many rows, each of which is read over a connection.
  static var forManyRows: [StoreKind] { TestOptions.isLong ? allCases : ofOneProcess }

  /// The steps of a random test that are done with it, where others do so many: a tenth with a database, unless `CONCORD_LONG` says otherwise.
  func share(of steps: Int) -> Int {
    TestOptions.isLong || Self.ofOneProcess.contains(self) ? steps : max(1, steps / 10)
  }

  /// Those whose stores outlive their connect.
  static var lasting: [StoreKind] { allCases.filter { $0 != .memory } }

  var testDescription: String { rawValue }

  var type: StoreType {
    switch self {
    case .memory: .inMemory
    #if Persistence
      case .sqlite: .sqlite
    #endif
    #if PostgreSQL
      case .postgreSQL: .postgreSQL
    #endif
    }
  }

  /// What is attached in a folder: a file in it, or a schema of a database that is named after it.
  func configuration(_ folder: URL, fileName: String? = nil, name: String? = nil) throws -> StoreConfiguration {
    #if PostgreSQL
      if self == .postgreSQL {
        return StoreConfiguration(
          name: name, type: type,
          options: [
            ConcordPostgreSQLOption: try PostgreSQLServer.shared.get().url,
            ConcordPostgreSQLSchemaOption: [folder.lastPathComponent, fileName ?? name].compactMap { $0 }.joined(
              separator: "/"),
            ConcordPostgreSQLIdleTimeOption: 5.0,
          ])
      }
    #endif
    return StoreConfiguration(fileName: fileName, name: name, type: type)
  }

  /// The same place for ``PersistentContainer/attachStore(at:)``.
  func place(_ folder: URL) throws -> String {
    #if PostgreSQL
      if self == .postgreSQL { return "\(try PostgreSQLServer.shared.get().url)#\(folder.lastPathComponent)" }
    #endif
    return folder.path
  }
}

/// A folder of its own, which goes at the end of the body.
func withFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
  let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}

/// A connect that is started, with one store, which is stopped at the end of the body.
func withConnect<R>(
  _ kind: StoreKind = .memory, _ body: (GenericConnect<ContextStrategy.Mixed>) async throws -> R
) async throws -> R {
  try await withFolder { folder in
    let connect = GenericConnect<ContextStrategy.Mixed>(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
    try await connect.start()
    let result = await Result { try await body(connect) }
    try await connect.stop()
    return try result.get()
  }
}

extension Result where Failure == any Error {
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

extension PersistentContainer {
  /// What the stores have, whatever contexts hold.
  func stored<T: PersistentEntity>(_ type: T.Type) throws -> [T] {
    try BackgroundContext(parent: persistentStoreCoordinator).fetch(FetchDescriptor<T>())
  }

  func store<T: PersistentEntity>(_ values: [T]) throws {
    let context = BackgroundContext(parent: persistentStoreCoordinator)
    for value in values { context.insert(value) }
    try context.save()
  }
}

/// Opens once, for all who wait.
final class Gate: Sendable {
  private let state = Locked((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

  func open() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.isOpen = true
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func passed() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// A list that any thread may add to.
final class Log<Entry: Sendable>: Sendable {
  private let list = Locked<[Entry]>([])
  func add(_ entry: Entry) { list.withLock { $0.append(entry) } }
  var entries: [Entry] { list.withLock { $0 } }
}

/// Waits until something holds, for so many seconds at most.
func eventually(_ seconds: Int = 20, _ condition: () throws -> Bool) async throws -> Bool {
  for _ in 0..<200 * seconds {
    if try condition() { return true }
    try await Task.sleep(for: .milliseconds(5))
  }
  return false
}

struct Failure: Error, Equatable { var text = "failed on purpose" }

/// Runs a closure that may suspend.
final class Work: GenericAction {
  let body: @Sendable () async throws -> Void
  init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }
  func execute() async throws { try await body() }
}

/// Runs a closure that may block.
final class BlockingWork: GenericAction {
  let body: @Sendable () throws -> Void
  init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }
  func execute() throws { try body() }
}

final class BookWork: EntityAction {
  typealias ManagedObjectType = Book
  let body: @Sendable (ActionContext) async throws -> Void
  init(_ body: @escaping @Sendable (ActionContext) async throws -> Void) { self.body = body }
  func execute(context: ActionContext) async throws { try await body(context) }
}

final class AuthorWork: EntityAction {
  typealias ManagedObjectType = Author
  let body: @Sendable (ActionContext) throws -> Void
  init(_ body: @escaping @Sendable (ActionContext) throws -> Void) { self.body = body }
  func execute(context: ActionContext) throws { try body(context) }
}

final class StrangerWork: EntityAction {
  typealias ManagedObjectType = Stranger
  func execute(context: ActionContext) throws {}
}

extension ContextStatistics {
  /// Inserts, updates and deletes.
  var changes: [Int] { [inserts, updates, deletes] }
}

/// Merges within an action, and gives what is stored afterwards.
func merged<T: PersistentEntity>(
  _ kind: StoreKind, _ type: T.Type, before: [any PersistentEntity],
  _ body: @escaping @Sendable (ActionContext) throws -> Void
) async throws -> [T] {
  try await withConnect(kind) { connect in
    func store<E: PersistentEntity>(_ value: E) throws { try connect.store([value]) }
    for value in before { try store(value) }
    let proxy = try connect.execute(BookWork { context in try body(context) })
    await proxy.finished()
    if let error = proxy.error { throw error }
    return try connect.stored(type)
  }
}
