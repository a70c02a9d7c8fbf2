public import Concord
public import ConcordModel
public import Foundation

/// What screens observe: a context whose entities live in an ``/Concord/EntityStore`` as long as somebody observes them.
///
/// ```swift
/// let book = try container.viewContext.find(Book.self, id: "ACK")
/// let subscription = book?.observe { print($0.title) }
/// ```
///
/// What is changed in it is shown at once, and written by ``save()``. It may be used from any thread. Each call that changes
/// something is a transaction of ``store``, and so is a block of `performAndWait(_:)`.
// Unchecked, because the compiler cannot see that `lock` guards `core`, `queries` and what is shown.
public final class ViewContext: ContextParent, @unchecked Sendable {
  /// What is shown. What is written to it directly, not through the context, is shown until the context shows something else,
  /// and is not saved.
  public let store: EntityStore
  let core: ContextCore
  var queries: [Int: any ViewQuery] = [:]
  var nextQuery = 0
  /// Whether it is being shown what has changed.
  private var isShowing = false
  /// How many of the announced commits had ended before what is shown was read: it shows these.
  private var shownCommits = 0
  /// Taken after the store's turn, never before.
  private let lock = NSRecursiveLock()
  private let isKeptUpToDate: Bool
  private let errorHandler: AsyncErrorHandlerBlock
  /// Where asynchronous blocks wait, so that only one thread waits for them.
  private let queue = DispatchQueue(label: "concord.view")
  private let changeCount = Locked(0)
  private let observation = Locked<StoreObservation?>(nil)
  private let overlaid = Locked<(any ViewOverlay)?>(nil)

  /// Creates a context for screens.
  ///
  /// - Parameters:
  ///   - parent: what it reads from and saves to.
  ///   - isKeptUpToDate: whether it shows what others save.
  ///   - delivery: how observers are called that belong to no actor.
  ///   - errorHandler: is told if what others saved cannot be read.
  public init(
    parent: any ContextParent, isKeptUpToDate: Bool = true, delivery: EntityStore.Delivery = .queue(.main),
    errorHandler: @escaping AsyncErrorHandlerBlock
  ) {
    // What is read is newer than what is shown, whatever its stamp: a rollback shows an older one.
    store = EntityStore(delivery: delivery, stamping: .unstampedWritesWin)
    core = ContextCore(parent: parent)
    core.noteTouched()
    self.isKeptUpToDate = isKeptUpToDate
    self.errorHandler = errorHandler
    let observed = parent.observeChanges { [weak self] in self?.show($0) }
    observation.withLock { $0 = observed }
  }

  func locked<R>(_ body: () throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  /// Changes the context, and shows it.
  func change<R>(_ body: (ContextCore) throws -> R) throws -> R { try result(of: body).get() }

  private func result<R>(of body: (ContextCore) throws -> R) -> Result<R, any Error> {
    store.transaction { _ in
      locked {
        // What throws undoes nothing that it did before, so that this is shown too.
        let result = Result { try body(core) }
        // It may have read what is not told yet, or what ends something that is shown above it.
        // What a computed property does while something is shown is shown with it.
        if !isShowing, !showTouched(), !announced.isEmpty || isOverlaid { show([]) }
        return result
      }
    }
  }

  // MARK: Blocks

  /// Runs a block on another thread, as one transaction.
  public func perform<R: Sendable>(_ body: @escaping @Sendable (ViewContext) throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.performAndWait(body) }) }
    }
  }

  /// The same for a block that takes nothing.
  public func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await perform { _ in try body() }
  }

  /// Runs a block on this thread, as one transaction. Blocks may be nested.
  @discardableResult
  public func performAndWait<R>(_ body: (ViewContext) throws -> R) throws -> R { try change { _ in try body(self) } }

  /// The same for a block that takes nothing.
  @discardableResult
  public func performAndWait<R>(_ body: () throws -> R) throws -> R { try change { _ in try body() } }

  // MARK: Reading

  /// Finds an entity, to observe it. It follows what is changed in the view and, if the strategy says so, what others save.
  ///
  /// - Returns: `nil` if it is neither stored nor shown by a change that is still pending. Of what such a change removes it is an
  ///   observer whose `isRemoved` is true.
  /// - Throws: ``/ConcordModel/StoreError``.
  /// - Complexity: the number of entities in it.
  public func find<T: PersistentEntity>(_ type: T.Type, id: T.ID) throws -> EntityObserver<T>? {
    let stored: EntityObserver<T>? = try change { core in
      if let value = try core.find(type, id) { return store.store(value) }
      store.remove(type, id: id)
      return nil
    }
    // A layer may have made it, as one of what waits to be sent does.
    return stored ?? store.find(type, id: id)
  }

  /// Fetches entities, with all they contain, without observing them.
  public func fetch<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try locked { try core.fetch(descriptor) }
  }

  /// How many entities a fetch would give.
  public func count<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try locked { try core.count(descriptor) }
  }

  // MARK: Changing

  /// Inserts an entity, with all it contains, or replaces the one with its id. See ``BackgroundContext/insert(_:modifiedAt:)``.
  public func insert<T: PersistentEntity>(_ entity: T, modifiedAt stamp: Stamp? = nil) {
    _ = result { $0.insert(entity, stamp) }
  }

  /// Changes an entity, and what it contains. See ``BackgroundContext/update(_:id:modifiedAt:_:)``.
  @discardableResult
  public func update<T: PersistentEntity>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, _ body: (inout T) throws -> Void
  ) throws -> Bool {
    try change { try $0.update(type, id, stamp, body) }
  }

  /// Deletes an entity. See ``BackgroundContext/delete(_:id:)``.
  @discardableResult
  public func delete<T: PersistentEntity>(_ type: T.Type, id: T.ID) throws -> Bool {
    try change { try $0.delete(type, id) }
  }

  /// How the next save merges what others have changed meanwhile.
  public var mergePolicy: MergePolicy {
    get { locked { core.policy } }
    set { locked { core.policy = newValue } }
  }

  // MARK: Saving

  /// Whether there is something to save.
  public var hasChanges: Bool { locked { core.hasChanges } }

  /// What a save would add. Empty, as the two below, while a store cannot be read.
  public var insertedObjects: [any PersistentEntity] { changed(.inserted) }
  /// What a save would change.
  public var updatedObjects: [any PersistentEntity] { changed(.updated) }
  /// What a save would remove, as it is stored.
  public var deletedObjects: [any PersistentEntity] { changed(.deleted) }

  private func changed(_ kind: ContextCore.ChangeKind) -> [any PersistentEntity] {
    locked { (try? core.changed(kind)) ?? [] }
  }

  /// Saves all changes, or none, to where the strategy says.
  ///
  /// - Throws: ``/ConcordModel/StoreError``. The changes are still there then, and can be saved again.
  public func save() throws {
    try locked { try core.save(origin: ObjectIdentifier(self)) }
    // What lost against what others had saved is shown no longer.
    try change { _ in }
  }

  /// Forgets all changes that were not saved.
  public func rollback() { _ = result { $0.rollback() } }
}

// MARK: For contexts that save to the view

extension ViewContext {
  public var model: Model { core.parent.model }
  public var generation: Int { core.parent.generation &+ changeCount.withLock { $0 } }
  public func nextStamp() -> Stamp { core.parent.nextStamp() }
  public func observeChanges(_ body: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
    core.parent.observeChanges(body)
  }

  public func read<R>(_ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    try locked { try core.read(entities, body) }
  }

  /// Takes what another context saves, and saves it with all that is not saved here.
  public func save(_ changes: PendingChanges, _ policy: MergePolicy, origin: ObjectIdentifier) throws {
    try change { try $0.save(changes, policy, origin: origin) }
  }
}

// MARK: Showing

extension ViewContext {
  /// Shows what others changed.
  private func show(_ change: StoreChange) {
    if case .detached(let types) = change { return detach(types) }
    guard isKeptUpToDate else { return showOverlay() }
    store.transaction { _ in
      locked {
        switch change {
        case .entities(let keys): show(keys)
        case .types(let types):
          for query in queries.values where !query.contained.isDisjoint(with: types) { query.mustFetch = true }
          show(Set(types.flatMap(shownKeys)), withOverlay: true)
        case .detached: break
        }
        showTouched()
      }
    }
  }

  /// What a store kept is gone, whatever the strategy.
  private func detach(_ types: Set<EntityDescription>) {
    store.transaction { _ in
      locked {
        for query in queries.values where !query.contained.isDisjoint(with: types) { query.mustFetch = true }
        for key in types.flatMap(shownKeys) { remove(key) }
        show([], withOverlay: true)
      }
    }
  }

  /// Shows what was changed here.
  ///
  /// - Returns: whether there was something.
  @discardableResult
  private func showTouched() -> Bool {
    var touched = core.takeTouched()
    let isAny = !touched.isEmpty
    while !touched.isEmpty {
      changeCount.withLock { $0 += 1 }
      show(touched)
      // Reading takes out of what is pending what others have removed.
      touched = core.takeTouched()
    }
    return isAny
  }

  /// Shows these as they are now, and with them what is committed already and not told yet: so that what is shown is one state
  /// of the stores. The store's turn and the lock are held.
  ///
  /// - Parameter withOverlay: whether there may be something new above them, though nothing is shown there yet.
  private func show(_ keys: Set<EntityKey>, withOverlay: Bool = false) {
    let wasShowing = isShowing
    isShowing = true
    endQueries()
    let announcedBefore = announced
    var showsAnnounced = true
    defer {
      if showsAnnounced { shownCommits = announcedBefore.endedCount }
      isShowing = wasShowing
    }
    var concern = concern(in: keys, with: announcedBefore)
    let overlay = overlay(ifShowing: !withOverlay)
    var overlayChange: ViewOverlayChange?
    var stored: [(EntityStore) -> any Sendable] = []
    var removed: [EntityKey] = []
    var types: Set<EntityDescription> = []
    var mustRead = overlay != nil
    /// Whether what is pending was compared with what others have removed, should a row refer to what is not stored.
    var mayDangle = false
    while mustRead || (!concern.isEmpty && !concern.types.isSubset(of: types)) {
      mustRead = false
      // What an overlay concerns is known only when it was read.
      types.formUnion(overlay == nil ? concern.types : Set(core.parent.model.entities))
      do {
        try core.read(types) { reading in
          (stored, removed) = ([], [])
          // What is committed now is not in what is read, or is announced.
          let announced = announced
          if announced.version != concern.version {
            concern = self.concern(in: keys, with: announced)
            guard concern.types.isSubset(of: types) else { return }
          }
          overlayChange = try overlay?.change(reading)
          if let overlayChange { concern = self.concern(in: keys, with: announced, overlayChange) }
          let loader = EntityLoader(reading, model: core.parent.model)
          for key in concern.shown {
            do {
              if let show = try loader.showing(key) { stored.append(show) } else { removed.append(key) }
            } catch StoreError.noStore {
              // The store was detached, or that of something inside; that it was is told next.
              removed.append(key)
            } catch {
              if !mayDangle, case StoreError.danglingReference = error { throw error }
              errorHandler(error)
            }
          }
          for query in concern.queries {
            if let error = query.update(concern.keys, reading, loader), !mayDangle { throw error }
          }
        }
      } catch StoreError.danglingReference where !mayDangle {
        (mayDangle, mustRead) = (true, true)
      } catch {
        (stored, removed, overlayChange) = ([], [], nil)
        showsAnnounced = false
        for query in concern.queries { query.fail(error) }
        // What is gone with its store leaves nothing to show.
        if !StoreError.isOfDetachedStore(error) { errorHandler(error) }
        break
      }
    }
    let loaded = stored.map { $0(store) }
    overlayChange?.finish(store, isKeptUpToDate)
    withExtendedLifetime(loaded) {}
    // What they read is of the same state. They let go of what is removed before that goes.
    for query in concern.queries {
      do { try query.finish(store) } catch { errorHandler(error) }
    }
    for key in removed { remove(key) }
  }

  /// What is announced and may not be shown yet. What may be committed at any moment is looked at each time.
  private var announced: AnnouncedChanges {
    isKeptUpToDate ? core.parent.announcedChanges.after(shownCommits) : .none
  }

  /// What is to be read after a change of some entities.
  private struct Concern {
    let keys: Set<EntityKey>
    /// Those that are shown.
    let shown: Set<EntityKey>
    let queries: [any ViewQuery]
    let types: Set<EntityDescription>
    /// Of what was announced when they were asked for.
    let version: Int

    var isEmpty: Bool { shown.isEmpty && queries.isEmpty }
  }

  private func concern(
    in keys: Set<EntityKey>, with announced: AnnouncedChanges, _ overlayChange: ViewOverlayChange? = nil
  ) -> Concern {
    var keys = keys.union(announced.keys)
    if let overlayChange {
      keys.formUnion(overlayChange.changed)
      if overlayChange.concernsAll, isKeptUpToDate { keys.formUnion(core.parent.model.entities.flatMap(shownKeys)) }
    }
    var shown = keys.filter(isShown)
    if let overlayChange { shown.formUnion(overlayChange.needed.filter { !isShown($0) }) }
    let queries = queries.values.filter { $0.mustFetch || $0.concerns(keys) }
    var types = queries.reduce(into: Set<EntityDescription>()) { $0.formUnion($1.contained) }
    for key in shown { types.formUnion(core.parent.model.contained(in: key.entity)) }
    return Concern(keys: keys, shown: shown, queries: queries, types: types, version: announced.version)
  }

  // MARK: What is shown above what is stored

  /// Shows something above what is stored, from now on.
  package func setOverlay(_ overlay: any ViewOverlay) {
    overlaid.withLock { $0 = overlay }
    showOverlay()
  }

  /// Shows what is new above what is stored, and returns when it is shown.
  package func showOverlay() {
    if overlay(ifShowing: false) == nil { return }
    store.transaction { _ in locked { show([], withOverlay: true) } }
  }

  private func overlay(ifShowing: Bool) -> (any ViewOverlay)? {
    overlaid.withLock { $0 }.flatMap { ifShowing && !$0.isShowing ? nil : $0 }
  }

  private var isOverlaid: Bool { overlay(ifShowing: true) != nil }

  /// Keeps an entity in the view, with all it contains, as long as the result is retained.
  package func holding(_ key: EntityKey) throws -> any Sendable {
    func holding<T: PersistentEntity>(_ type: T.Type) throws -> any Sendable {
      let id = try T.id(storedKey: key.id)
      if let known = store.find(type, id: id) { return known }
      return try find(type, id: id) ?? store.observer(type, id: id) as any Sendable
    }
    return try holding(key.entity.type)
  }

  private func endQueries() {
    for (number, query) in queries where !query.isObserved(in: store) { queries[number] = nil }
  }

  private func isShown(_ key: EntityKey) -> Bool {
    func isShown<T: PersistentEntity>(_ type: T.Type) -> Bool {
      (try? T.id(storedKey: key.id)).map { store.isKnown(type, id: $0) } ?? false
    }
    return isShown(key.entity.type)
  }

  private func remove(_ key: EntityKey) {
    func remove<T: PersistentEntity>(_ type: T.Type) {
      if let id = try? T.id(storedKey: key.id) { store.remove(type, id: id) }
    }
    remove(key.entity.type)
  }

  private func shownKeys(_ entity: EntityDescription) -> [EntityKey] {
    func keys<T: PersistentEntity>(_ type: T.Type) -> [EntityKey] {
      store.knownIDs(of: type).compactMap { id in (try? T.storedKey(of: id)).map { EntityKey(entity, $0) } }
    }
    return keys(entity.type)
  }
}

extension EntityLoader {
  /// What shows an entity in a store, and keeps it there as long as the result is retained; `nil` if there is none.
  func showing(_ key: EntityKey) throws -> ((EntityStore) -> any Sendable)? {
    func showing<T: PersistentEntity>(_ type: T.Type) throws -> ((EntityStore) -> any Sendable)? {
      try find(type, key: key.id).map { value in { $0.store(value) } }
    }
    return try showing(key.entity.type)
  }
}
