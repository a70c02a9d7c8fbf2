public import Concord
public import ConcordModel
public import Foundation
import Synchronization

/// A context for screens, whose entities live in an ``/Concord/EntityStore`` as long as they are observed.
///
/// ```swift
/// let book = try container.viewContext.find(Book.self, id: "ACK")
/// let subscription = book?.observe { print($0.title) }
/// ```
///
/// Changes to it are shown at once, and written by ``save()``. It may be used from any thread. Each call that changes
/// something is a transaction of ``store``, and so is a block of `performAndWait(_:)`.
// Unchecked, because the compiler cannot see that `lock` guards `core`, `queries` and the shown entities.
public final class ViewContext: ContextParent, @unchecked Sendable {
  /// The entity store that observers read. Direct writes to it, not through the context, are shown until the context
  /// shows something else, and are not saved.
  public var store: EntityStore {
    beginUse()
    return entities
  }
  private let entities: EntityStore
  /// Whether the view was ever used. Until then it shows nothing, and need not hear of commits.
  private let isUsed = Atomic<Bool>(false)
  let core: ContextCore
  let queries = QueryIndex()
  /// Whether changes are being shown at this moment.
  private var isShowing = false
  /// What could not be read, and is shown later.
  private var unshown = UnshownTypes()
  /// The number of announced commits that had ended before the shown state was read, which includes them.
  private var shownCommits = 0
  /// Taken after the store's turn, never before.
  private let lock = NSRecursiveLock()
  private let isKeptUpToDate: Bool
  private let errorHandler: AsyncErrorHandlerBlock
  /// The queue of asynchronous blocks, so that only one thread waits for the context.
  let queue = DispatchQueue(label: "concord.view")
  private let changeCount = Locked(0)
  private let observation = Locked<StoreObservation?>(nil)
  private let overlaid = Locked<(any ViewOverlay)?>(nil)

  /// Creates a context for screens.
  ///
  /// - Parameters:
  ///   - parent: the parent that the context reads from and saves to.
  ///   - isKeptUpToDate: whether the context shows saves of other contexts.
  ///   - delivery: the delivery for observers that belong to no actor.
  ///   - errorHandler: a closure that receives the error if a save of another context cannot be read.
  public init(
    parent: any ContextParent, isKeptUpToDate: Bool = true, delivery: EntityStore.Delivery = .queue(.main),
    errorHandler: @escaping AsyncErrorHandlerBlock
  ) {
    // A row that is read replaces the shown one, also with an older stamp, as after a rollback.
    entities = EntityStore(delivery: delivery, stamping: .unstampedWritesWin)
    core = ContextCore(parent: parent)
    core.noteTouched()
    self.isKeptUpToDate = isKeptUpToDate
    self.errorHandler = errorHandler
    let observed = parent.observeChanges { [weak self] in
      self?.isUsed.load(ordering: .sequentiallyConsistent) ?? false
    } _: { [weak self] in
      self?.show($0)
    }
    observation.withLock { $0 = observed }
  }

  /// Notes that the view is used, before it reads anything: commits that had ended are in what it reads, and it is told of later ones.
  private func beginUse() {
    if !isUsed.load(ordering: .relaxed) { isUsed.store(true, ordering: .sequentiallyConsistent) }
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
        // The change may have read a commit that is not told yet, or one that ends a change shown above it. Changes
        // that a computed property makes during showing are shown with the rest.
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

  /// Runs a block without parameters as one transaction, with exclusive use of the context.
  public func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await perform { _ in try body() }
  }

  /// Runs a block on this thread, as one transaction. Blocks may be nested.
  @discardableResult
  public func performAndWait<R>(_ body: (ViewContext) throws -> R) throws -> R { try change { _ in try body(self) } }

  /// Runs a block without parameters as one transaction, with exclusive use of the context.
  @discardableResult
  public func performAndWait<R>(_ body: () throws -> R) throws -> R { try change { _ in try body() } }

  // MARK: Reading

  /// Finds an entity, to observe it. The observer follows changes in the view and, depending on the strategy, saves of
  /// other contexts.
  ///
  /// - Returns: `nil` if the entity is neither stored nor inserted by a pending change. For an entity that a pending
  ///   change removes, an observer whose `isRemoved` is true.
  /// - Throws: ``/ConcordModel/StoreError``.
  /// - Complexity: the number of entities in it.
  public func find<T: PersistentEntity>(_ type: T.Type, id: T.ID) throws -> EntityObserver<T>? {
    let stored: EntityObserver<T>? = try change { core in
      let (value, others, unannounced) = try core.load(type, id) { value, loader in
        (
          value, value == nil ? [] : loader.membersOfCycles,
          isKeptUpToDate ? try loader.reading.unannouncedKeys() : []
        )
      }
      // The rest of what other processes have committed is shown with it.
      defer { if !unannounced.isEmpty, !isShowing { show(unannounced) } }
      guard let value else {
        store.remove(type, id: id)
        return nil
      }
      return withExtendedLifetime(others.map { store.keep($0) }) { store.store(value) }
    }
    // A layer may have made it, as one of what waits to be sent does.
    return stored ?? store.find(type, id: id)
  }

  /// Fetches entities, with all they contain, without observing them.
  public func fetch<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try locked { try core.fetch(descriptor) }
  }

  /// Returns the number of entities that a fetch would return.
  public func count<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try locked { try core.count(descriptor) }
  }

  /// Explains which part of a fetch the stores evaluate, and how, and which is evaluated in memory.
  ///
  /// - Throws: ``/ConcordModel/StoreError``.
  public func explain<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> FetchExplanation {
    try locked { try core.explain(descriptor) }
  }

  // MARK: Changing

  /// Inserts an entity, with all it contains, or replaces the one with its id. See ``BackgroundContext/insert(_:modifiedAt:)``.
  public func insert<T: PersistentEntity>(_ entity: T, modifiedAt stamp: Stamp? = nil) {
    _ = result { $0.insert(entity, stamp) }
  }

  /// Changes an entity and the entities that it contains. See ``BackgroundContext/update(_:id:modifiedAt:_:)``.
  @discardableResult
  public func update<T: PersistentEntity>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, _ body: (inout T) throws -> Void
  ) throws -> Bool {
    try change { try $0.update(type, id, stamp, body) }
  }

  /// Changes an entity without reading the entities in some of its collections. See
  /// ``BackgroundContext/update(_:id:leavingOut:modifiedAt:_:)``.
  @discardableResult
  public func update<T: PersistentEntity>(
    _ type: T.Type, id: T.ID, leavingOut collections: PartialKeyPath<T>..., modifiedAt stamp: Stamp? = nil,
    _ body: (inout T, EntityLinks<T>) throws -> Void
  ) throws -> Bool {
    try change { try $0.update(type, id, leavingOut: collections, stamp, body) }
  }

  /// Deletes an entity. See ``BackgroundContext/delete(_:id:modifiedAt:)``.
  @discardableResult
  public func delete<T: PersistentEntity>(_ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil) throws -> Bool {
    try change { try $0.delete(type, id, stamp) }
  }

  /// The rule by which the next save merges changes that other contexts have saved since.
  public var mergePolicy: MergePolicy {
    get { locked { core.policy } }
    set { locked { core.policy = newValue } }
  }

  // MARK: Saving

  /// Whether there is something to save.
  public var hasChanges: Bool { locked { core.hasChanges } }

  /// The entities that a save would insert. Empty while a store cannot be read.
  public var insertedObjects: [any PersistentEntity] { changed(.inserted) }
  /// The entities that a save would update. Empty while a store cannot be read.
  public var updatedObjects: [any PersistentEntity] { changed(.updated) }
  /// The entities that a save would delete, with their stored values. Empty while a store cannot be read.
  public var deletedObjects: [any PersistentEntity] { changed(.deleted) }

  private func changed(_ kind: ContextCore.ChangeKind) -> [any PersistentEntity] {
    locked { (try? core.changed(kind)) ?? [] }
  }

  /// Saves all changes, or none, to where the strategy says.
  ///
  /// - Throws: ``/ConcordModel/StoreError``. The changes are still there then, and can be saved again.
  public func save() throws {
    try locked { try core.save(origin: ObjectIdentifier(self)) }
    // A change that lost against another context's save is no longer shown.
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
  public func nextStamp(after stamp: Stamp) -> Stamp { core.parent.nextStamp(after: stamp) }
  public func isAhead(_ stamp: Stamp) -> Bool { core.parent.isAhead(stamp) }
  public func observeChanges(_ body: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
    core.parent.observeChanges(body)
  }
  public func observeChanges(
    while isWanted: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable (StoreChange) -> Void
  ) -> StoreObservation {
    core.parent.observeChanges(while: isWanted, body)
  }

  public func read<R>(_ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    try locked { try core.read(entities, body) }
  }

  /// Saves the changes of another context, together with all unsaved changes of this one.
  public func save(_ changes: PendingChanges, _ policy: MergePolicy, origin: ObjectIdentifier) throws {
    try change { try $0.save(changes, policy, origin: origin) }
  }
}

// MARK: Showing

extension ViewContext {
  /// Shows a change of the stores.
  private func show(_ change: StoreChange) {
    if case .detached(let types) = change { return detach(types) }
    guard isKeptUpToDate else { return showOverlay() }
    // Stores tell changes without keys when they can be read again, or cannot be read.
    if case .types(let types) = change, let error = failure(toRead: types) {
      entities.transaction { _ in
        locked { didNotRead(types, error) }
      }
      return
    }
    entities.transaction { _ in
      locked {
        switch change {
        case .entities(let keys): show(keys)
        case .types(let types): showAll(of: types)
        case .detached: break
        }
        showTouched()
      }
    }
  }

  /// Shows everything as it is now. The store's turn and the lock are held.
  func showAll() {
    showAll(of: Set(core.parent.model.entities))
    showTouched()
  }

  private func showAll(of types: Set<EntityDescription>) {
    queries.mustFetch(types)
    show(Set(types.flatMap(shownKeys)), withOverlay: true)
  }

  /// Removes the entities of a detached store from the view, under each strategy.
  private func detach(_ types: Set<EntityDescription>) {
    entities.transaction { _ in
      locked {
        queries.mustFetch(types)
        for key in types.flatMap(shownKeys) { remove(key) }
        show([], withOverlay: true)
      }
    }
  }

  /// Shows changes of this context.
  ///
  /// - Returns: whether there were any.
  @discardableResult
  private func showTouched() -> Bool {
    var touched = core.takeTouched()
    let isAny = !touched.isEmpty
    while !touched.isEmpty {
      changeCount.withLock { $0 += 1 }
      show(touched)
      // Reading takes entities that other contexts have removed out of the pending changes.
      touched = core.takeTouched()
    }
    return isAny
  }

  /// Shows the present state of some entities, with commits that are not told yet, so that the shown state is one state
  /// of the stores. The store's turn and the lock are held.
  ///
  /// - Parameters:
  ///   - withOverlay: whether the overlay may have new changes, though it shows none yet.
  ///   - loading: further entities to show.
  ///   - failed: a closure that receives an error instead of the error handler, if `loading` is not empty.
  /// - Returns: tokens that keep what was loaded.
  @discardableResult
  private func show(
    _ keys: Set<EntityKey>, withOverlay: Bool = false, loading: Set<EntityKey> = [],
    failed: ((any Error) -> Void)? = nil
  ) -> [any Sendable] {
    let wasShowing = isShowing
    isShowing = true
    queries.removeEnded()
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
    var concerned: [any ViewQuery] = []
    var types: Set<EntityDescription> = []
    /// What concerns single entities. The reading may be run again.
    var errors: [any Error] = []
    if concern.isEmpty, let known = overlay?.knownChange(), known.needed.allSatisfy(isShown) { overlayChange = known }
    var mustRead = overlay != nil && overlayChange == nil || !loading.isEmpty
    /// Whether the pending changes may not have been compared with removals, so that a row may refer to an entity that
    /// is not stored.
    var mayDangle = false
    while mustRead || (!concern.isEmpty && !concern.types.isSubset(of: types)) {
      mustRead = false
      // What an overlay concerns is known only when it was read.
      types.formUnion(overlay == nil ? concern.types : Set(core.parent.model.entities))
      for key in loading { types.formUnion(core.parent.model.contained(in: key.entity)) }
      do {
        try core.read(types) { reading in
          reading.mayReadAgain()
          // What an earlier run has updated no longer knows what it showed before: it reads everything.
          for query in concerned {
            query.mustFetch = true
            queries.didUpdate(query)
          }
          (stored, removed, concerned, errors) = ([], [], [], [])
          // A commit of another process is in the reading from the beginning, or not at all.
          let unannounced = isKeptUpToDate ? try reading.unannouncedKeys(preparing: needed(concern)) : []
          let keys = keys.union(unannounced)
          // A commit that ends from now on is not in the reading, or is announced.
          let announced = announced
          if announced.version != concern.version || !unannounced.isEmpty {
            concern = self.concern(in: keys, with: announced)
            guard concern.types.isSubset(of: types) else { return }
          }
          overlayChange = try overlay?.change(reading)
          if let needed = overlayChange?.needed, !needed.isEmpty, !isUsed.load(ordering: .relaxed) {
            // Read again, since a commit that ends now would not be told.
            beginUse()
            mustRead = true
            return
          }
          if let overlayChange { concern = self.concern(in: keys, with: announced, overlayChange) }
          let loader = EntityLoader(reading, model: core.parent.model)
          for key in loading {
            if let show = try loader.showing(key) { stored.append(show) } else { removed.append(key) }
          }
          for key in concern.shown where !loading.contains(key) {
            do {
              if let show = try loader.showing(key) { stored.append(show) } else { removed.append(key) }
            } catch StoreError.noStore {
              // A store of the entity or of one inside was detached, which is told next.
              removed.append(key)
            } catch {
              if !mayDangle, case StoreError.danglingReference = error { throw error }
              // It is no fault of this entity alone.
              if StoreError.mayPass(error) { throw error }
              errors.append(error)
            }
          }
          let rows = ChangedRows(concern.keys, reading)
          defer { stored = loader.membersOfCycles.map { value in { $0.keep(value) } } + stored }
          for (query, ids) in try queries.concerned(by: rows) {
            concerned.append(query)
            if let error = query.update(ids, rows, reading, loader), !mayDangle { throw error }
          }
        }
      } catch StoreError.danglingReference where !mayDangle {
        (mayDangle, mustRead) = (true, true)
      } catch {
        (stored, removed, overlayChange, errors) = ([], [], nil, [])
        showsAnnounced = false
        concerned = queries.all(concernedBy: concern.keys)
        for query in concerned { query.fail(error) }
        if let failed { failed(error) } else { didFail(error, toShow: types.union(concern.types)) }
        break
      }
    }
    for error in errors { errorHandler(error) }
    overlayChange?.begin(isKeptUpToDate)
    let loaded = stored.map { $0(entities) }
    overlayChange?.finish(entities, isKeptUpToDate)
    // The queries read the same state. They release removed entities before the removal.
    for query in concerned {
      do { try query.finish(entities) } catch { errorHandler(error) }
      queries.didUpdate(query)
    }
    for key in removed { remove(key) }
    return loaded
  }

  /// Returns the error with which types cannot be read at this moment.
  ///
  /// It may take long to find that out, for which others do not wait: neither the store's turn nor the lock is held.
  private func failure(toRead types: Set<EntityDescription>) -> (any Error)? {
    do {
      try core.parent.read(types) { _ = try $0.unannouncedKeys() }
      return nil
    } catch { return StoreError.mayPass(error) && !StoreError.isOfDetachedStore(error) ? error : nil }
  }

  /// Notes that types have changed and cannot be read. The store's turn and the lock are held.
  private func didNotRead(_ types: Set<EntityDescription>, _ error: any Error) {
    queries.removeEnded()
    queries.mustFetch(types)
    for query in queries.all(concernedBy: []) {
      query.fail(error)
      do { try query.finish(entities) } catch { errorHandler(error) }
      queries.didUpdate(query)
    }
    didFail(error, toShow: types)
  }

  private func didFail(_ error: any Error, toShow types: Set<EntityDescription>) {
    // An entity of a detached store cannot be shown.
    if StoreError.isOfDetachedStore(error) { return }
    if !unshown.isBeingShown { errorHandler(error) }
    if StoreError.mayPass(error) { showLater(types) }
  }

  /// Shows types that could not be read once more after a while: what commits have changed is told once. The lock is held.
  private func showLater(_ types: Set<EntityDescription>) {
    guard let delay = unshown.add(types) else { return }
    // Not on the view's queue, whose blocks would wait.
    DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in
      guard let self else { return }
      let error = failure(toRead: locked { unshown.types })
      queue.async { self.showUnshown(error) }
    }
  }

  /// - Parameter error: the error with which the types cannot be read at this moment.
  private func showUnshown(_ error: (any Error)?) {
    entities.transaction { _ in
      locked {
        let types = unshown.begin()
        defer { unshown.end() }
        if let error { return didNotRead(types, error) }
        showAll(of: types)
        showTouched()
      }
    }
  }

  /// The announced changes that may not be shown yet. Commits in progress are included each time.
  private var announced: AnnouncedChanges {
    isKeptUpToDate ? core.parent.announcedChanges.after(shownCommits) : .none
  }

  /// The entities and queries to be read after a change.
  private struct Concern {
    let keys: Set<EntityKey>
    /// The entities that are shown.
    let shown: Set<EntityKey>
    let types: Set<EntityDescription>
    /// The version of the announced changes at that time.
    let version: Int

    var isEmpty: Bool { types.isEmpty }
  }

  /// The rows that are read for a change.
  private func needed(_ concern: Concern) -> [EntityKey] {
    concern.keys.filter { concern.shown.contains($0) || queries.looks(at: $0.entity) }
  }

  private func concern(
    in keys: Set<EntityKey>, with announced: AnnouncedChanges, _ overlayChange: ViewOverlayChange? = nil
  ) -> Concern {
    var keys = keys.union(announced.keys)
    let unknown = announced.types
    if !unknown.isEmpty {
      // A part of what others have committed would be shown otherwise.
      queries.mustFetch(unknown)
      keys.formUnion(unknown.flatMap(shownKeys))
    }
    if let overlayChange {
      keys.formUnion(overlayChange.changed)
      if overlayChange.concernsAll, isKeptUpToDate { keys.formUnion(core.parent.model.entities.flatMap(shownKeys)) }
    }
    var shown = keys.filter(isShown)
    if let overlayChange { shown.formUnion(overlayChange.needed.filter { !isShown($0) }) }
    var types = queries.types(concernedBy: keys)
    for key in shown { types.formUnion(core.parent.model.contained(in: key.entity)) }
    return Concern(keys: keys, shown: shown, types: types, version: announced.version)
  }

  // MARK: Changes shown above the stored state

  /// Shows an overlay's changes above the stored state.
  package func setOverlay(_ overlay: any ViewOverlay) {
    overlaid.withLock { $0 = overlay }
    showOverlay()
  }

  /// Shows new changes of the overlay, and returns when they are shown.
  package func showOverlay() {
    if overlay(ifShowing: false) == nil { return }
    entities.transaction { _ in
      locked { _ = show([], withOverlay: true) }
    }
  }

  private func overlay(ifShowing: Bool) -> (any ViewOverlay)? {
    overlaid.withLock { $0 }.flatMap { ifShowing && !$0.isShowing ? nil : $0 }
  }

  private var isOverlaid: Bool { overlay(ifShowing: true) != nil }

  /// Shows some entities, with all they contain, and keeps them in the view as long as the result is retained.
  ///
  /// What is missing is read together with the overlay.
  ///
  /// - Throws: ``/ConcordModel/StoreError``.
  package func holding(_ keys: [EntityKey]) throws -> [any Sendable] {
    func hold<T: PersistentEntity>(_ type: T.Type, _ id: StoredValue) throws -> any Sendable {
      let id = try T.id(storedKey: id)
      return entities.find(type, id: id) ?? entities.observer(type, id: id) as any Sendable
    }
    beginUse()
    let missing = Set(keys.filter { !isShown($0) })
    var loaded: [any Sendable] = []
    if !missing.isEmpty {
      var failure: (any Error)?
      loaded = entities.transaction { _ in
        locked { show([], loading: missing) { failure = $0 } }
      }
      if let failure { throw failure }
    }
    // Outside of the transaction, which would make all pending changes anew.
    return try withExtendedLifetime(loaded) { try keys.map { try hold($0.entity.type, $0.id) } }
  }

  private func isShown(_ key: EntityKey) -> Bool {
    func isShown<T: PersistentEntity>(_ type: T.Type) -> Bool {
      (try? T.id(storedKey: key.id)).map { entities.isKnown(type, id: $0) } ?? false
    }
    return isShown(key.entity.type)
  }

  private func remove(_ key: EntityKey) {
    func remove<T: PersistentEntity>(_ type: T.Type) {
      if let id = try? T.id(storedKey: key.id) { entities.remove(type, id: id) }
    }
    remove(key.entity.type)
  }

  private func shownKeys(_ entity: EntityDescription) -> [EntityKey] {
    func keys<T: PersistentEntity>(_ type: T.Type) -> [EntityKey] {
      entities.knownIDs(of: type).compactMap { id in (try? T.storedKey(of: id)).map { EntityKey(entity, $0) } }
    }
    return keys(entity.type)
  }
}

extension EntityStore {
  /// Stores an entity, and keeps it as long as the result is retained.
  fileprivate func keep<T: PersistentEntity>(_ value: T) -> any Sendable { store(value) }
}

extension EntityLoader {
  /// Returns a closure that shows an entity in a store and keeps it there as long as its result is retained; `nil` if
  /// the entity does not exist.
  func showing(_ key: EntityKey) throws -> ((EntityStore) -> any Sendable)? {
    func showing<T: PersistentEntity>(_ type: T.Type) throws -> ((EntityStore) -> any Sendable)? {
      try find(type, key: key.id).map { value in { $0.store(value) } }
    }
    return try showing(key.entity.type)
  }
}
