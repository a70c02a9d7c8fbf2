import Concord
public import ConcordModel
import Foundation

/// The attached stores, and which type is kept where. Stores come and go at any time; who reads or writes goes on with those
/// that were attached when it began.
public final class PersistentStoreCoordinator: Sendable {
  public let model: Model
  private let state = Locked(State())
  private let announcements: Announcements
  private let feed: Feed<ChangeNotice>
  let removalCollectors = RemovalCollectors()
  let clock = StampSource()
  let commitCount = Locked(0)

  private struct State {
    var attached: [Attached] = []
    /// Which of them keeps a type. The first that is meant for a type keeps it.
    var routes: [EntityDescription: Int] = [:]
    /// The store that keeps everything, if there is but one.
    var only: (any RowStore)?
    /// Which of them keeps the outbox: the first that has a file, or the first.
    var home: Int? { attached.firstIndex { $0.store.url != nil } ?? attached.indices.first }
  }

  private struct Attached {
    let store: PersistentStore
    let observation: StoreObservation
  }

  /// Creates a coordinator without stores.
  public init(model: Model) {
    self.model = model
    let announcements = Announcements()
    self.announcements = announcements
    feed = Feed(label: "concord.changes", merging: ChangeNotice.merged) { announcements.remove($0.announcements) }
  }

  // MARK: Attaching

  /// The attached stores, in the order in which they were attached.
  public var persistentStores: [PersistentStore] { state.withLock { $0.attached.map(\.store) } }

  /// Attaches a store.
  ///
  /// - Parameters:
  ///   - store: the store.
  ///   - movingEntities: whether entities that belong into the store of their configuration, and were saved to a store without one, are
  ///     moved there. Otherwise attaching the second of the two throws.
  /// - Throws: ``/ConcordModel/StoreError/alreadyAttached(store:)`` if it is, or another one with its file;
  ///   ``/ConcordModel/StoreError/unknownConfiguration(_:model:declared:)``;
  ///   ``/ConcordModel/StoreError/keptElsewhere(store:in:entities:)``.
  public func attach(_ store: PersistentStore, movingEntities: Bool = false) throws {
    try model.checkConfiguration(store.configuration)
    try Self.check(store, isNotAmong: persistentStores)
    try settleEntities(of: store, moves: movingEntities)
    let observation = store.rows.observeCommits(except: ObjectIdentifier(self)) { [weak self] in
      self?.didCommit($0, store)
    }
    try change { state in
      try Self.check(store, isNotAmong: state.attached.map(\.store))
      state.attached.append(Attached(store: store, observation: observation))
    }
  }

  private static func check(_ store: PersistentStore, isNotAmong attached: [PersistentStore]) throws {
    let path = store.url?.standardizedFileURL.resolvingSymlinksInPath()
    let isPresent = attached.contains { other in
      other.rows === store.rows || path != nil && other.url?.standardizedFileURL.resolvingSymlinksInPath() == path
    }
    if isPresent { throw StoreError.alreadyAttached(store: store.rows.name) }
  }

  func attach(_ store: any RowStore, configuration: String) throws {
    try attach(PersistentStore(configurationName: configuration, type: .inMemory, url: nil, rows: store))
  }

  /// Detaches a store, without ending it.
  ///
  /// - Returns: whether it was attached.
  @discardableResult
  public func detach(_ store: PersistentStore) -> Bool { detach(store.rows) }

  @discardableResult
  func detach(_ store: any RowStore) -> Bool {
    var isFound = false
    change { state in
      let before = state.attached.count
      state.attached.removeAll { $0.store.rows === store }
      isFound = state.attached.count < before
    }
    return isFound
  }

  /// Changes which stores are attached, and tells what is kept elsewhere since.
  private func change(_ body: (inout State) throws -> Void) rethrows {
    try state.withLock { state in
      let before = state
      try body(&state)
      let stores = state.attached.map(\.store)
      let configurations = stores.map(\.configuration)
      state.routes = [:]
      for entity in model.entities {
        state.routes[entity] = stores.firstIndex {
          model.isMeant(entity, for: $0.configuration, attached: configurations)
        }
      }
      state.only = stores.count == 1 && state.routes.count == model.entities.count ? stores[0].rows : nil
      var (changed, gone): (Set<EntityDescription>, Set<EntityDescription>) = ([], [])
      for entity in model.entities {
        let old = before.routes[entity].map { before.attached[$0].store }
        let new = state.routes[entity].map { state.attached[$0].store }
        if new == nil, old != nil { gone.insert(entity) } else if new != old { changed.insert(entity) }
      }
      commitCount.withLock { $0 += 1 }
      if !gone.isEmpty { feed.tell(.other(.detached(gone))) }
      if !changed.isEmpty { feed.tell(.other(.types(changed))) }
    }
  }

  // MARK: Following

  /// Tells what others than this coordinator wrote to a store. What it writes itself it tells when the writing returns.
  private func didCommit(_ commit: StoreCommit, _ store: PersistentStore) {
    commitCount.withLock { $0 += 1 }
    if let keys = commit.keys {
      feed.tell(.rows([Array(keys)], announcements: []))
    } else {
      let types = state.withLock { state in
        state.routes.filter { state.attached[$1].store === store }.map(\.key)
      }
      feed.tell(.other(.types(Set(types))))
    }
  }

  /// Calls back with what changes in the stores, one after the other, until the result is released.
  public func observeChanges(_ body: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
    feed.observe { body($0.change) }
  }

  /// What is committed at this moment, or was and is not told yet.
  public var announcedChanges: AnnouncedChanges { announcements.current }

  /// Announces what is going to be read, makes it so, and tells it. What may have been made in part is told as well.
  func announce<R>(_ keys: [EntityKey], _ body: () throws -> R) rethrows -> R {
    let number = announcements.add(keys)
    defer { tell(keys, announced: number) }
    return try body()
  }

  /// Tells what was announced and is made so.
  private func tell(_ keys: [EntityKey], announced number: Int) {
    feed.tell(.rows([keys], announcements: [announcements.end(number)]))
  }

  func isAttached(_ file: URL) -> Bool {
    let path = file.standardizedFileURL.resolvingSymlinksInPath()
    return persistentStores.contains { $0.url?.standardizedFileURL.resolvingSymlinksInPath() == path }
  }

  /// Returns when all that was committed so far has been told. Not from within an observer.
  public func settle() {
    for store in persistentStores { store.rows.settle() }
    feed.settle()
  }

  // MARK: Reading and writing

  private struct Route {
    let store: any RowStore
    var entities: [EntityDescription] = []
    /// Whether it keeps the outbox.
    var isHome = false
  }

  /// The stores in which entities of these types are kept, and the one that keeps the outbox, in the order in which they were
  /// attached.
  private func routes(_ entities: some Collection<EntityDescription>) -> [Route] {
    let state = state.withLock { $0 }
    var routes = state.attached.map { Route(store: $0.store.rows) }
    for entity in entities {
      if let index = state.routes[entity] { routes[index].entities.append(entity) }
    }
    if let home = state.home { routes[home].isHome = true }
    return routes.filter { !$0.entities.isEmpty || $0.isHome }
  }

  /// The store that keeps the outbox.
  package var outboxHome: PersistentStore? {
    state.withLock { state in state.home.map { state.attached[$0].store } }
  }

  /// Reads the stores of some types, each in one committed state.
  func read<R>(_ entities: some Collection<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    if let only = state.withLock({ $0.only }) { return try only.read(body) }
    return try read(routes(entities)[...], [:], nil, body)
  }

  private func read<R>(
    _ routes: ArraySlice<Route>, _ sessions: [EntityDescription: any RowReading], _ home: (any RowReading)?,
    _ body: (any RowReading) throws -> R
  ) throws -> R {
    guard let route = routes.first else { return try body(RoutedSession(reading: sessions, home: home)) }
    return try route.store.read { session in
      var sessions = sessions
      for entity in route.entities { sessions[entity] = session }
      return try read(routes.dropFirst(), sessions, route.isHome ? session : home, body)
    }
  }

  /// Writes to the stores of all types, whole in each. Several stores are locked in the order in which they were attached, so
  /// that no two writers wait for each other.
  ///
  /// - Parameter withOutbox: whether forwarded actions are written, too.
  func write<R>(
    _ entities: some Collection<EntityDescription>, withOutbox: Bool = false, _ body: (any RowWriting) throws -> R
  ) throws -> R {
    var isChanged = false
    var notice: (keys: [EntityKey], number: Int)?
    // What several stores have committed in part is told as well. Who is told compares what it has pending with it.
    defer {
      if isChanged { commitCount.withLock { $0 += 1 } }
      if let notice { tell(notice.keys, announced: notice.number) }
    }
    func writing(_ session: any RowWriting) throws -> R {
      let result = try body(session)
      let keys = session.changedKeys
      isChanged = !keys.isEmpty
      if isChanged, feed.isFollowed { notice = (keys, announcements.add(keys)) }
      return result
    }
    if let only = state.withLock({ $0.only }) { return try only.write(origin: ObjectIdentifier(self), writing) }
    let needed = routes(entities).filter { withOutbox || !$0.entities.isEmpty }
    return try write(needed[...], [:], nil, writing)
  }

  private func write<R>(
    _ routes: ArraySlice<Route>, _ sessions: [EntityDescription: any RowWriting], _ home: (any RowWriting)?,
    _ body: (any RowWriting) throws -> R
  ) throws -> R {
    guard let route = routes.first else { return try body(RoutedSession(writing: sessions, home: home)) }
    return try route.store.write(origin: ObjectIdentifier(self)) { session in
      var sessions = sessions
      for entity in route.entities { sessions[entity] = session }
      return try write(routes.dropFirst(), sessions, route.isHome ? session : home, body)
    }
  }
}
