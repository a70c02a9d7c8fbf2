import Concord
public import ConcordModel
import Foundation

/// The attached stores, and the store of each type. Stores may be attached and detached at any time; a read or a write
/// uses the stores that were attached when it began.
public final class PersistentStoreCoordinator: Sendable {
  public let model: Model
  private let state = Locked(State())
  private let announcements: Announcements
  private let feed: Feed<ChangeNotice>
  private let claims = StoreClaims()
  let clock: StampSource
  let commitCount = Locked(0)
  /// The stores in which actions are applied to stored entities.
  let scratch = ScratchStores()
  /// The guards: those who need stored entities that a rule does not keep.
  let guards = RetentionGuards()
  let uses = RetentionUses()
  let retentionRules = RetentionRules()

  private struct State {
    var attached: [Attached] = []
    /// The index of the store of each type: the first one whose configuration includes the type.
    var routes: [EntityDescription: Int] = [:]
    /// The store that keeps everything, if there is but one.
    var only: (store: any RowStore, attachment: StoreAttachment)?
    var lastAttachment = 0
    /// The index of the store that keeps forwarded actions: the first with a file, or the first.
    var home: Int? { attached.firstIndex { $0.store.isKept } ?? attached.indices.first }
  }

  private struct Attached {
    let store: PersistentStore
    let observation: StoreObservation
    let attachment: StoreAttachment
    /// The number of commits of other writers that were announced without their keys.
    var unknownCommits: Int
    /// The path of the store's file; empty if it has none.
    let path: String

    init(store: PersistentStore, observation: StoreObservation, attachment: StoreAttachment, unknownCommits: Int) {
      (self.store, self.observation, self.attachment) = (store, observation, attachment)
      self.unknownCommits = unknownCommits
      path = store.path ?? ""
    }
  }

  /// Creates a coordinator without stores.
  public convenience init(model: Model) { self.init(model: model, clock: StampSource()) }

  /// Creates a coordinator with a clock.
  init(model: Model, clock: StampSource) {
    self.model = model
    self.clock = clock
    let announcements = Announcements()
    self.announcements = announcements
    feed = Feed(label: "concord.changes", merging: ChangeNotice.merged) { announcements.remove($0.announcements) }
    uses.begin { [weak self] in self?.saveUses() }
  }

  deinit {
    for store in persistentStores { StorePlaces.shared.remove(ObjectIdentifier(self), at: store.place) }
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
    // What is read from now on is compared with it.
    let unknownCommits = store.rows.unknownCommits
    try change { state in
      try Self.check(store, isNotAmong: state.attached.map(\.store))
      state.lastAttachment += 1
      state.attached.append(
        Attached(
          store: store, observation: observation, attachment: StoreAttachment(number: state.lastAttachment),
          unknownCommits: unknownCommits))
      StorePlaces.shared.add(self, at: store.place)
    }
    do {
      // What was saved until the new store kept its entities.
      let moved = try settleEntities(of: store, moves: movingEntities)
      if moved.isEmpty { return }
      commitCount.withLock { $0 += 1 }
      feed.tell(.other(.types(moved)))
    } catch {
      detach(store)
      throw error
    }
  }

  private static func check(_ store: PersistentStore, isNotAmong attached: [PersistentStore]) throws {
    let path = store.path
    let isPresent = attached.contains { $0.rows === store.rows || path != nil && $0.path == path }
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
    saveUses()
    var isFound = false
    var types: Set<EntityDescription> = []
    change { state in
      guard let index = state.attached.firstIndex(where: { $0.store.rows === store }) else { return }
      isFound = true
      types = Set(state.routes.filter { $1 == index }.map(\.key))
      let place = state.attached.remove(at: index).store.place
      if !state.attached.contains(where: { $0.store.place == place }) {
        StorePlaces.shared.remove(ObjectIdentifier(self), at: place)
      }
    }
    uses.forgetAll(of: types)
    for keeper in guards.all { keeper.didDetach(types) }
    return isFound
  }

  /// Changes the attached stores, and tells observers of types whose store has changed.
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
      state.only =
        stores.count == 1 && state.routes.count == model.entities.count
        ? (stores[0].rows, state.attached[0].attachment) : nil
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

  /// Tells observers of a commit to a store by another writer. Commits of this coordinator are told when the writing
  /// returns.
  private func didCommit(_ commit: StoreCommit, _ store: PersistentStore) {
    commitCount.withLock { $0 += 1 }
    guard let keys = commit.keys.map({ Array($0) }) else { return announceUnknown(in: store, isTold: true) }
    retentionRules.didWrite(keys)
    feed.tell(.rows([keys], announcements: [announcements.addEnded(keys)]))
  }

  /// Announces commits of other writers with unknown changes, and tells observers of them.
  ///
  /// - Parameter isTold: whether the store has told of a new one.
  private func announceUnknown(in store: PersistentStore, isTold: Bool) {
    let count = store.rows.unknownCommits
    let found: (types: Set<EntityDescription>, number: Int)? = state.withLock { state in
      guard let index = state.attached.firstIndex(where: { $0.store === store }),
        isTold || count > state.attached[index].unknownCommits
      else { return nil }
      state.attached[index].unknownCommits = max(count, state.attached[index].unknownCommits)
      let types = Set(state.routes.filter { $1 == index }.map(\.key))
      // Within the lock: a thread that finds the commit counted must find it announced.
      return (types, announcements.addEnded(types))
    }
    guard let found else { return }
    commitCount.withLock { $0 += 1 }
    feed.tell(.other(.types(found.types), announcements: [found.number]))
  }

  /// Calls a closure with the changes of the stores, one at a time, until the result is released.
  public func observeChanges(_ body: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
    feed.observe { body($0.change) }
  }

  /// Calls a closure with the changes of the stores, as long as they are wanted. No thread is woken for a commit that nobody wants.
  public func observeChanges(
    while isWanted: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable (StoreChange) -> Void
  ) -> StoreObservation {
    feed.observe(where: { _ in isWanted() }) { body($0.change) }
  }

  /// Calls a closure with the changes that other writers and attaching or detaching may have made, until the result is released.
  package func observeOtherChanges(_ body: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
    feed.observe(where: \.isOther) { body($0.change) }
  }

  /// The changes that are being committed, or are committed and not told yet. Commits of other processes are among them as
  /// soon as their rows can be read.
  public var announcedChanges: AnnouncedChanges {
    let attached = state.withLock { $0.attached }
    for one in attached where one.store.rows.unknownCommits > one.unknownCommits {
      announceUnknown(in: one.store, isTold: false)
    }
    return announcements.current
  }

  /// Announces changes, makes them, and tells observers of them, also if making them failed in part.
  func announce<R>(_ keys: [EntityKey], _ body: () throws -> R) rethrows -> R {
    let number = announcements.add(keys)
    defer { tell(keys, announced: number) }
    return try body()
  }

  /// Tells observers of announced changes that are made.
  private func tell(_ keys: [EntityKey], announced number: Int) {
    feed.tell(.rows([keys], announcements: [announcements.end(number)]))
  }

  /// Whether a store with a file is attached. Paths are compared as texts: two spellings of the same characters are one file in many file systems.
  func isAttached(_ file: URL) -> Bool {
    let path = file.standardizedFileURL.resolvingSymlinksInPath().path
    return persistentStores.contains { $0.path == path }
  }

  /// Returns when all that was committed so far has been told. Not from within an observer.
  public func settle() {
    for store in persistentStores { store.rows.settle() }
    feed.settle()
  }

  // MARK: Reading and writing

  private struct Route {
    let store: any RowStore
    let attachment: StoreAttachment
    /// The path of its file; empty if it has none.
    let path: String
    var entities: [EntityDescription] = []
  }

  /// The outboxes that are written beside the rows of entities.
  enum WrittenOutboxes {
    case none
    case one(StoreAttachment)
    /// The outbox of one store, with its notes; the outboxes of the other stores are told apart by these.
    case notes(StoreAttachment)
    case all

    /// Whether an attached store's outbox is written as that of the session.
    func isOfSession(_ attachment: StoreAttachment) -> Bool {
      if case .notes(let written) = self { attachment == written } else { contains(attachment) }
    }

    func contains(_ attachment: StoreAttachment) -> Bool {
      switch self {
      case .none: false
      case .one(let written): attachment == written
      case .notes, .all: true
      }
    }
  }

  /// The stores in which entities of these types are kept, in the order in which they are locked, with those whose outboxes are
  /// read or written.
  private func routes(_ entities: some Collection<EntityDescription>, _ outboxes: WrittenOutboxes) -> [Route] {
    let state = state.withLock { $0 }
    var routes = state.attached.map { Route(store: $0.store.rows, attachment: $0.attachment, path: $0.path) }
    for entity in entities {
      if let index = state.routes[entity] { routes[index].entities.append(entity) }
    }
    // The store whose outbox or notes are written is the first to be locked, and so commits last: an action is marked as sent, and a
    // position noted, only where the changes are stored.
    func place(_ route: Route) -> (Int, String, StoreAttachment) {
      (outboxes.isOfSession(route.attachment) ? 0 : 1, route.path, route.attachment)
    }
    return routes.filter { !$0.entities.isEmpty || outboxes.contains($0.attachment) }.sorted { place($0) < place($1) }
  }

  /// The attached stores, each of which may have an outbox.
  package var attachments: [StoreAttachment: PersistentStore] {
    state.withLock { state in
      Dictionary(uniqueKeysWithValues: state.attached.map { ($0.attachment, $0.store) })
    }
  }

  /// The store that keeps the entities of a type.
  func store(of entity: EntityDescription) -> PersistentStore? {
    state.withLock { state in state.routes[entity].map { state.attached[$0].store } }
  }

  /// The store that keeps forwarded actions.
  package var outboxHome: PersistentStore? {
    state.withLock { state in state.home.map { state.attached[$0].store } }
  }

  /// The attachment of the store that keeps forwarded actions.
  package var homeAttachment: StoreAttachment? {
    state.withLock { state in state.home.map { state.attached[$0].attachment } }
  }

  /// Reads the stores of some types, each in one committed state. A read of all types includes all outboxes.
  func read<R>(_ entities: some Collection<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    if let only = state.withLock({ $0.only }) {
      return try only.store.read { try body(AttachedReading($0, only.attachment)) }
    }
    let routes = routes(entities, entities.count == model.entities.count ? .all : .none)
    return try read(routes[...], [:], [:], routes.count > 1 ? RepeatedReading(routes.map(\.store.name)) : nil, body)
  }

  private func read<R>(
    _ routes: ArraySlice<Route>, _ sessions: [EntityDescription: any RowReading],
    _ outboxes: [StoreAttachment: any RowReading], _ repeated: RepeatedReading?, _ body: (any RowReading) throws -> R
  ) throws -> R {
    guard let route = routes.first else {
      guard let repeated else { return try body(RoutedSession(reading: sessions, outboxes: outboxes)) }
      return try repeated.run {
        try body(RoutedSession(reading: sessions, outboxes: outboxes, mayReadAgain: { repeated.isAllowed = true }))
      }
    }
    return try route.store.read { session in
      var (sessions, outboxes) = (sessions, outboxes)
      for entity in route.entities { sessions[entity] = session }
      outboxes[route.attachment] = session
      return try read(routes.dropFirst(), sessions, outboxes, repeated, body)
    }
  }

  /// Writes to the stores of all types, whole in each. Several stores are locked in the order of their paths, whatever a process
  /// attached first, behind that whose outbox is written. Of two writers that wait for each other one lets go, and begins again.
  ///
  /// - Parameter outboxes: the outboxes that are written, too.
  /// - Throws: ``/ConcordModel/StoreError/detached(store:)`` if the store of the outbox is not attached any longer.
  func write<R>(
    _ entities: some Collection<EntityDescription>, outboxes: WrittenOutboxes = .none, isPurge: Bool = false,
    _ body: (any RowWriting) throws -> R
  ) throws -> R {
    var isChanged = false
    var notice: (keys: [EntityKey], number: Int)?
    // A commit that only some of several stores have made is told as well. Observers compare their pending changes with
    // it.
    var written: [EntityKey] = []
    defer {
      if isChanged { commitCount.withLock { $0 += 1 } }
      if let notice { tell(notice.keys, announced: notice.number) }
      if isChanged, !isPurge { retentionRules.didWrite(written) }
    }
    func writing(_ session: any RowWriting) throws -> R {
      // A store may run this again, if its first attempt to commit had no effect.
      if let earlier = notice { tell(earlier.keys, announced: earlier.number) }
      notice = nil
      let result = try body(session)
      let keys = session.changedKeys
      (isChanged, written) = (!keys.isEmpty, keys)
      if isChanged, feed.isFollowed { notice = (keys, announcements.add(keys)) }
      return result
    }
    let only = state.withLock { $0.only }
    switch (only, outboxes) {
    case (let only?, .one(let written)), (let only?, .notes(let written)):
      guard only.attachment == written else { break }
      return try only.store.write(origin: ObjectIdentifier(self), writing)
    case (let only?, _): return try only.store.write(origin: ObjectIdentifier(self), writing)
    case (nil, _): break
    }
    let routes = routes(entities, outboxes)
    switch outboxes {
    case .one(let written), .notes(let written):
      guard routes.contains(where: { $0.attachment == written }) else {
        throw StoreError.detached(store: "with the outbox")
      }
    case .none, .all: break
    }
    if routes.count < 2 { return try write(routes[...], outboxes, [:], [:], writing) }
    return try claims.claiming(Set(routes.map(\.attachment))) {
      try StoreIsTaken.retrying { try write(routes[...], outboxes, [:], [:], writing) }
    }
  }

  private func write<R>(
    _ routes: ArraySlice<Route>, _ written: WrittenOutboxes, _ sessions: [EntityDescription: any RowWriting],
    _ outboxes: [StoreAttachment: any RowWriting], _ body: (any RowWriting) throws -> R
  ) throws -> R {
    guard let route = routes.first else {
      let ofSession = outboxes.keys.sorted().filter(written.isOfSession).compactMap { outboxes[$0] }
      return try body(RoutedSession(writing: sessions, outboxes: ofSession, byStore: outboxes))
    }
    func writing(_ session: any RowWriting) throws -> R {
      var (sessions, outboxes) = (sessions, outboxes)
      for entity in route.entities { sessions[entity] = session }
      if written.contains(route.attachment) { outboxes[route.attachment] = session }
      return try write(routes.dropFirst(), written, sessions, outboxes, body)
    }
    if routes.startIndex > 0, let store = route.store as? any ExclusivelyWritten {
      return try store.writeSoon(origin: ObjectIdentifier(self), writing)
    }
    return try route.store.write(origin: ObjectIdentifier(self), writing)
  }
}
