public import ConcordModel
import Foundation

/// A container of attached stores, with the contexts that read and save their entities.
///
/// ```swift
/// let container: any PersistentContainer = GenericPersistentContainer<ContextStrategy.Mixed>(name: "Library")
/// try container.attachPersistentStore()
/// let context = container.newBackgroundContext()
/// ```
public protocol PersistentContainer: AnyObject, Sendable {
  /// Returns the folder of stores that are attached without a folder.
  static func defaultStoreLocation() -> URL

  /// The name of the container, and of its model.
  var name: String { get }
  /// The coordinator of the attached stores.
  var persistentStoreCoordinator: PersistentStoreCoordinator { get }

  /// Attaches a store: opens its file, or creates it together with its folders.
  ///
  /// Where two attached stores are meant for an entity, the one that was attached first keeps it, and the other one's
  /// rows are not shown until that is detached. So detach the store of a user before you attach the next one's.
  ///
  /// - Parameters:
  ///   - url: the folder of the file. A store in memory does not use it.
  ///   - configuration: the name of the file, the type of the store, and the entities that it keeps.
  /// - Returns: the attached store, which ``detach(persistentStore:)`` takes.
  /// - Throws: ``/ConcordModel/StoreError``: the file is attached already, damaged, of another program or of another
  ///   schema, or has a name that leads out of its folder.
  @discardableResult
  func attachPersistentStore(at url: URL, for configuration: StoreConfiguration) throws -> PersistentStore
  /// Attaches several stores in one folder: all, or none.
  ///
  /// - Returns: the attached stores, in the order of the configurations.
  /// - Throws: ``/ConcordModel/StoreError`` for the first one that cannot be attached, as
  ///   ``attachPersistentStore(at:for:)`` throws it; then none of them is attached.
  @discardableResult
  func attachPersistentStores(at url: URL, for configurations: [StoreConfiguration]) throws -> [PersistentStore]

  /// Writes pending saves to a store, and detaches and closes it. Its entities are removed from the view.
  ///
  /// What contexts and the view have changed and not saved stays with them, above the store that is attached next: roll it back, unless that is
  /// the same user's.
  ///
  /// - Throws: ``/ConcordModel/StoreError``: the store is not attached, or a pending save cannot be written; then it stays
  ///   attached.
  func detach(persistentStore: PersistentStore) throws
  /// Detaches several stores.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if one of the stores is not attached, or a pending save cannot be written;
  ///   then those before it are detached.
  func detach(persistentStores: [PersistentStore]) throws

  /// The context that screens observe.
  var viewContext: ViewContext { get }
  /// Creates a context for background work, which the strategy connects.
  func newBackgroundContext() -> BackgroundContext
  /// Creates a context of a subclass for background work, which the strategy connects.
  ///
  /// - Returns: a context of the type that the caller expects, as `let context: ReportContext = container.newGenericBackgroundContext()`.
  func newGenericBackgroundContext<Context: BackgroundContext>() -> Context

  /// Writes pending saves to the stores, and returns when they are durable and the view shows them.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if a save cannot be written now; it is tried again later.
  func flush() async throws
}

extension PersistentContainer {
  /// Returns the folder `Concord` in the user's folder for application data.
  public static func defaultStoreLocation() -> URL {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    return (folders.first ?? FileManager.default.temporaryDirectory).appendingPathComponent("Concord")
  }

  /// The model of the container.
  public var model: Model { persistentStoreCoordinator.model }
  /// The model of the container, under Core Data's name.
  public var managedObjectModel: Model { model }

  /// The attached stores, in the order in which they were attached.
  public var persistentStores: [PersistentStore] { persistentStoreCoordinator.persistentStores }

  /// Attaches a store in the default folder.
  ///
  /// - Throws: ``/ConcordModel/StoreError``: the file is attached already, damaged, or of another schema.
  @discardableResult
  public func attachPersistentStore(
    for configuration: StoreConfiguration = StoreConfiguration()
  ) throws -> PersistentStore {
    try attachPersistentStore(at: Self.defaultStoreLocation(), for: configuration)
  }

  /// Attaches a store with the default configuration in a folder.
  ///
  /// - Throws: ``/ConcordModel/StoreError``: the file is attached already, damaged, or of another schema.
  @discardableResult
  public func attachPersistentStore(at url: URL) throws -> PersistentStore {
    try attachPersistentStore(at: url, for: StoreConfiguration())
  }

  /// Attaches several stores in the default folder: all, or none.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` for the first one that cannot be attached, as
  ///   ``attachPersistentStore(at:for:)`` throws it; then none of them is attached.
  @discardableResult
  public func attachPersistentStores(
    for configurations: [StoreConfiguration] = [StoreConfiguration()]
  ) throws -> [PersistentStore] {
    try attachPersistentStores(at: Self.defaultStoreLocation(), for: configurations)
  }

  /// Attaches one store with the default configuration in a folder.
  ///
  /// - Throws: ``/ConcordModel/StoreError``, as ``attachPersistentStore(at:for:)`` throws it.
  @discardableResult
  public func attachPersistentStores(at url: URL) throws -> [PersistentStore] {
    try attachPersistentStores(at: url, for: [StoreConfiguration()])
  }
}
