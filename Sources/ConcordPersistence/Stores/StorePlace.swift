import Concord
import ConcordModel

/// The place where a store keeps its rows. Stores of one place have the same rows.
package enum StorePlace: Hashable, Sendable {
  /// A store that is the only one with its rows.
  case object(ObjectIdentifier)
  /// A file, by whatever path it was opened.
  case file(device: UInt64, number: UInt64)
  /// A database, by a name that it has itself.
  case database(String)
}

/// A store whose rows other stores of the process may have, too.
package protocol PlacedStore: RowStore {
  var place: StorePlace { get }
  /// Returns the keys of this store's rows of a type that refer to an entity, as a transaction of another store with the same place sees them,
  /// whose model need not have the type. The default returns `nil`.
  ///
  /// - Parameters:
  ///   - session: the transaction.
  ///   - store: the other store.
  /// - Returns: `nil` if the transaction may not see the same rows as this store.
  func referrers(
    to key: EntityKey, in entity: EntityDescription, within session: any RowReading, of store: any RowStore
  ) throws -> [StoredValue]?
}

extension PlacedStore {
  package func referrers(
    to key: EntityKey, in entity: EntityDescription, within session: any RowReading, of store: any RowStore
  ) throws -> [StoredValue]? { nil }
}

extension PersistentStore {
  var place: StorePlace { (rows as? any PlacedStore)?.place ?? .object(ObjectIdentifier(rows)) }
}

/// The coordinators of this process by the places of their attached stores. None of them is retained.
final class StorePlaces: Sendable {
  static let shared = StorePlaces()

  private struct Reference: Sendable { weak var value: PersistentStoreCoordinator? }
  private let coordinators = Locked<[StorePlace: [ObjectIdentifier: Reference]]>([:])

  func add(_ coordinator: PersistentStoreCoordinator, at place: StorePlace) {
    coordinators.withLock { $0[place, default: [:]][ObjectIdentifier(coordinator)] = Reference(value: coordinator) }
  }

  func remove(_ coordinator: ObjectIdentifier, at place: StorePlace) {
    coordinators.withLock { coordinators in
      coordinators[place]?[coordinator] = nil
      if coordinators[place]?.isEmpty ?? false { coordinators[place] = nil }
    }
  }

  /// The other coordinators that have attached a store of one of the places of a coordinator.
  func neighbours(of coordinator: PersistentStoreCoordinator) -> [PersistentStoreCoordinator] {
    let places = Set(coordinator.persistentStores.map(\.place))
    let found = coordinators.withLock { coordinators in
      places.reduce(into: [:]) { found, place in found.merge(coordinators[place] ?? [:]) { $1 } }
    }
    return found.values.compactMap(\.value).filter { $0 !== coordinator }
  }
}
