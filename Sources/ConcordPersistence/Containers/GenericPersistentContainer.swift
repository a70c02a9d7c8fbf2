import Concord
public import ConcordModel
import Foundation

/// A container whose contexts a strategy connects.
///
/// ```swift
/// let container = GenericPersistentContainer<ContextStrategy.Mixed>(name: "Library", model: model)
/// try container.attachPersistentStores(at: userFolder, for: [
///   StoreConfiguration(name: "TransientData", type: NSInMemoryStoreType), StoreConfiguration(name: "PersistentData")])
/// ```
public final class GenericPersistentContainer<Strategy: ContextStrategyType>: PersistentContainer {
  public let name: String
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  private let strategy: Strategy
  /// The closure that receives errors from background work.
  package let errorHandler: AsyncErrorHandlerBlock
  /// Whether no model was registered under the name.
  private let modelIsMissing: Bool

  /// Creates a container with the model that is registered under its name.
  ///
  /// If there is none, attaching a store throws ``/ConcordModel/StoreError/unknownModel(_:)``.
  ///
  /// - Parameters:
  ///   - name: the name of the model, with which the names of files begin.
  ///   - asyncErrorBlock: a closure that receives errors from background work; if `nil`, they are printed to standard error.
  ///   - logTag: the text with which a printed line begins.
  public convenience init(
    name: String, asyncErrorBlock: AsyncErrorHandlerBlock? = nil, logTag: String = "GenericPersistentContainer"
  ) {
    self.init(name, Model.registered(name), asyncErrorBlock, logTag)
  }

  /// Creates a container with a model.
  ///
  /// - Parameters:
  ///   - name: the beginning of the files' names.
  ///   - model: the model of the stored entities.
  ///   - asyncErrorBlock: a closure that receives errors from background work, on any thread; if `nil`, they are
  ///     printed to standard error.
  ///   - logTag: the text with which a printed line begins.
  public convenience init(
    name: String, model: Model, asyncErrorBlock: AsyncErrorHandlerBlock? = nil,
    logTag: String = "GenericPersistentContainer"
  ) {
    self.init(name, model, asyncErrorBlock, logTag)
  }

  /// Creates a container with a model, under Core Data's argument label.
  ///
  /// - Parameters:
  ///   - name: the beginning of the files' names.
  ///   - managedObjectModel: the model of the stored entities.
  ///   - asyncErrorBlock: a closure that receives errors from background work, on any thread; if `nil`, they are
  ///     printed to standard error.
  ///   - logTag: the text with which a printed line begins.
  public convenience init(
    name: String, managedObjectModel: Model, asyncErrorBlock: AsyncErrorHandlerBlock? = nil,
    logTag: String = "GenericPersistentContainer"
  ) {
    self.init(name, managedObjectModel, asyncErrorBlock, logTag)
  }

  private init(_ name: String, _ model: Model?, _ asyncErrorBlock: AsyncErrorHandlerBlock?, _ logTag: String) {
    self.name = name
    modelIsMissing = model == nil
    persistentStoreCoordinator = PersistentStoreCoordinator(model: model ?? Model(emptyNamed: name))
    errorHandler =
      asyncErrorBlock ?? { try? FileHandle.standardError.write(contentsOf: Data("\(logTag): \($0)\n".utf8)) }
    strategy = Strategy(persistentStoreCoordinator: persistentStoreCoordinator, errorHandler: errorHandler)
  }

  // MARK: Stores

  @discardableResult
  public func attachPersistentStore(at url: URL, for configuration: StoreConfiguration) throws -> PersistentStore {
    if modelIsMissing { throw StoreError.unknownModel(name) }
    try model.checkConfiguration(configuration.name ?? "")
    let file = try configuration.url(prefix: name, in: url)
    let request = StoreRequest(
      model: model, entities: model.entities(in: configuration.name ?? ""), configuration: configuration, url: file,
      name: file?.lastPathComponent ?? [name, configuration.declaredName].compactMap { $0 }.joined(separator: "."))
    // Before the file is opened, since opening it a second time might migrate it.
    if let file, persistentStoreCoordinator.isAttached(file) {
      if configuration.fileName == nil, let other = configurationWithFile(of: configuration) {
        throw StoreError.storeFailed(
          store: request.name,
          reason:
            "it is that of the configuration '\(other)', since names of files are in lower case; give one a fileName")
      }
      throw StoreError.alreadyAttached(store: request.name)
    }
    let rows = try StoreFactory.open(request)
    let store = PersistentStore(
      configurationName: configuration.name, type: configuration.type, url: file, rows: rows)
    do {
      try persistentStoreCoordinator.attach(
        store, movingEntities: (configuration.options[ConcordMoveEntitiesOption] as? Bool) ?? false)
    } catch {
      try? rows.close()
      throw error
    }
    return store
  }

  /// Returns the name of another attached configuration that has the same default name of a file.
  private func configurationWithFile(of configuration: StoreConfiguration) -> String? {
    persistentStores.lazy.compactMap(\.configurationName).first {
      $0 != configuration.name && $0.lowercased() == configuration.name?.lowercased()
    }
  }

  @discardableResult
  public func attachPersistentStores(
    at url: URL, for configurations: [StoreConfiguration]
  ) throws -> [PersistentStore] {
    var stores: [PersistentStore] = []
    do {
      for configuration in configurations.isEmpty ? [StoreConfiguration()] : configurations {
        stores.append(try attachPersistentStore(at: url, for: configuration))
      }
    } catch {
      for store in stores.reversed() { try? detach(persistentStore: store) }
      throw error
    }
    return stores
  }

  public func detach(persistentStore store: PersistentStore) throws {
    guard persistentStores.contains(store) else { throw StoreError.detached(store: store.rows.name) }
    do {
      try strategy.writePendingChanges()
    } catch StoreError.noStore {
      // That belongs to another store, which is detached already; it waits for that.
    }
    guard persistentStoreCoordinator.detach(store) else { throw StoreError.detached(store: store.rows.name) }
    try store.rows.close()
  }

  public func detach(persistentStores stores: [PersistentStore]) throws {
    for store in stores { try detach(persistentStore: store) }
  }

  // MARK: Contexts

  public var viewContext: ViewContext { strategy.viewContext }
  public func newBackgroundContext() -> BackgroundContext { strategy.newBackgroundContext() }
  public func newGenericBackgroundContext<Context: BackgroundContext>() -> Context { strategy.newBackgroundContext() }

  /// Writes the pending saves of indirect strategies to the stores.
  package func writePendingChanges() throws { try strategy.writePendingChanges() }

  public func flush() async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      // On a thread that may block.
      DispatchQueue.global().async { [self] in
        continuation.resume(
          with: Result {
            try strategy.writePendingChanges()
            persistentStoreCoordinator.settle()
          })
      }
    }
  }
}
