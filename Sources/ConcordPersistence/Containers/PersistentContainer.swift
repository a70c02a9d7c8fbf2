public import ConcordModel
public import Foundation

/// Stores with their contexts.
///
/// ```swift
/// let container: any PersistentContainer = GenericPersistentContainer<ContextStrategy.Mixed>(name: "Library")
/// try container.attachPersistentStore()
/// let context = container.newBackgroundContext()
/// ```
public protocol PersistentContainer: AnyObject, Sendable {
  /// The folder of stores that are attached without saying where.
  static func defaultStoreLocation() -> URL

  var name: String { get }
  var persistentStoreCoordinator: PersistentStoreCoordinator { get }

  /// Attaches a store: opens its file, or makes it, with the folders that it is in.
  ///
  /// - Throws: ``/ConcordModel/StoreError``: the file is attached already, damaged, or of another schema.
  @discardableResult
  func attachPersistentStore(at url: URL, for configuration: StoreConfiguration) throws -> PersistentStore
  /// Attaches several stores in one folder: all, or none.
  @discardableResult
  func attachPersistentStores(at url: URL, for configurations: [StoreConfiguration]) throws -> [PersistentStore]

  /// Detaches a store, and closes it, after writing what is still to be written. Its entities are gone from the view.
  ///
  /// - Throws: ``/ConcordModel/StoreError``: it is not attached, or something that it is owed cannot be written; then it stays attached.
  func detach(persistentStore: PersistentStore) throws
  /// Detaches several stores.
  func detach(persistentStores: [PersistentStore]) throws

  /// What screens observe.
  var viewContext: ViewContext { get }
  /// A scratchpad, which the strategy connects.
  func newBackgroundContext() -> BackgroundContext
  /// The same for a subclass.
  func newGenericBackgroundContext<Context: BackgroundContext>() -> Context

  /// Returns when all is written that indirect strategies still owe the disk, and the view shows what was saved.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if something cannot be written now; it is tried again later.
  func flush() async throws
}

extension PersistentContainer {
  /// `Concord` in the user's folder for application data.
  public static func defaultStoreLocation() -> URL {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    return (folders.first ?? FileManager.default.temporaryDirectory).appendingPathComponent("Concord")
  }

  /// The model that it was made with.
  public var model: Model { persistentStoreCoordinator.model }
  /// Core Data's name for it.
  public var managedObjectModel: Model { model }

  /// The attached stores, in the order in which they were attached.
  public var persistentStores: [PersistentStore] { persistentStoreCoordinator.persistentStores }

  @discardableResult
  public func attachPersistentStore(
    for configuration: StoreConfiguration = StoreConfiguration()
  ) throws -> PersistentStore {
    try attachPersistentStore(at: Self.defaultStoreLocation(), for: configuration)
  }

  @discardableResult
  public func attachPersistentStore(at url: URL) throws -> PersistentStore {
    try attachPersistentStore(at: url, for: StoreConfiguration())
  }

  @discardableResult
  public func attachPersistentStores(
    for configurations: [StoreConfiguration] = [StoreConfiguration()]
  ) throws -> [PersistentStore] {
    try attachPersistentStores(at: Self.defaultStoreLocation(), for: configurations)
  }

  @discardableResult
  public func attachPersistentStores(at url: URL) throws -> [PersistentStore] {
    try attachPersistentStores(at: url, for: [StoreConfiguration()])
  }
}
