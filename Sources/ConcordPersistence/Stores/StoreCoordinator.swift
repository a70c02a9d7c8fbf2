import Concord
import ConcordModel

/// The attached stores, and which type is kept where. Stores come and go at any time; who reads or writes goes on with those
/// that were attached when it began.
final class StoreCoordinator: Sendable {
  let model: Model
  private let attached = Locked<[Attached]>([])
  let clock = StampSource()
  let commitCount = Locked(0)

  struct Attached {
    let store: any RowStore
    let configuration: String
  }

  init(model: Model) { self.model = model }

  func attach(_ store: any RowStore, configuration: String) throws {
    try attached.withLock { attached in
      guard !attached.contains(where: { $0.store === store }) else {
        throw StoreError.alreadyAttached(store: store.name)
      }
      attached.append(Attached(store: store, configuration: configuration))
    }
  }

  /// - Returns: whether it was attached.
  @discardableResult
  func detach(_ store: any RowStore) -> Bool {
    attached.withLock { attached in
      let before = attached.count
      attached.removeAll { $0.store === store }
      return attached.count < before
    }
  }

  var stores: [any RowStore] { attached.withLock { $0.map(\.store) } }

  /// The stores in which entities of these types are kept, in the order in which they were attached. The first that is meant for
  /// a type keeps it.
  private func routes(
    _ entities: some Collection<EntityDescription>
  ) -> [(store: any RowStore, entities: [EntityDescription])] {
    let attached = attached.withLock { $0 }
    let configurations = attached.map(\.configuration)
    var routes = attached.map { (store: $0.store, entities: [EntityDescription]()) }
    for entity in entities {
      let index = attached.firstIndex {
        model.isMeant(entity, for: $0.configuration, attached: configurations)
      }
      if let index { routes[index].entities.append(entity) }
    }
    return routes.filter { !$0.entities.isEmpty }
  }

  /// Reads the stores of some types, each in one committed state.
  func read<R>(_ entities: some Collection<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    try read(routes(entities)[...], [:], body)
  }

  private func read<R>(
    _ routes: ArraySlice<(store: any RowStore, entities: [EntityDescription])>,
    _ sessions: [EntityDescription: any RowReading], _ body: (any RowReading) throws -> R
  ) throws -> R {
    guard let route = routes.first else { return try body(RoutedSession(reading: sessions)) }
    return try route.store.read { session in
      var sessions = sessions
      for entity in route.entities { sessions[entity] = session }
      return try read(routes.dropFirst(), sessions, body)
    }
  }

  /// Writes to the stores of all types, whole in each. Several stores are locked in the order in which they were attached, so
  /// that no two writers wait for each other.
  func write<R>(
    _ entities: some Collection<EntityDescription>, origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R
  ) throws -> R {
    try write(routes(entities)[...], [:], origin, body)
  }

  private func write<R>(
    _ routes: ArraySlice<(store: any RowStore, entities: [EntityDescription])>,
    _ sessions: [EntityDescription: any RowWriting], _ origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R
  ) throws -> R {
    guard let route = routes.first else { return try body(RoutedSession(writing: sessions)) }
    return try route.store.write(origin: origin) { session in
      var sessions = sessions
      for entity in route.entities { sessions[entity] = session }
      return try write(routes.dropFirst(), sessions, origin, body)
    }
  }
}
