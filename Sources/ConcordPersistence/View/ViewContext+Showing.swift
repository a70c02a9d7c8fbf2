import Concord
import ConcordModel
import Foundation
import Synchronization

extension ViewContext {
  /// Shows a change of the stores.
  func show(_ change: StoreChange) {
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

  func showAll(of types: Set<EntityDescription>) {
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
  func showTouched() -> Bool {
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
  func show(
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
    /// The errors that concern single entities. The reading may be run again.
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
        try readToShow(types) { reading in
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
              let error = reading.storeError(error, of: key.entity)
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
            if let error = query.update(ids, rows, queries.layered, reading, loader), !mayDangle { throw error }
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

  /// Reads types in the state that was just told, where this thread shows what a store tells it.
  private func readToShow(_ types: Set<EntityDescription>, _ body: (any RowReading) throws -> Void) throws {
    try DirectDelivery.showing { try core.read(types, body) }
  }

  /// Returns the error with which types cannot be read at this moment.
  ///
  /// It may take long to find that out, for which nobody else waits: neither the store's turn nor the lock is held.
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
  var announced: AnnouncedChanges {
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
      // A part of what other writers have committed would be shown otherwise.
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

  func isShown(_ key: EntityKey) -> Bool {
    func isShown<T: PersistentEntity>(_ type: T.Type) -> Bool {
      (try? T.id(storedKey: key.id)).map { entities.isKnown(type, id: $0) } ?? false
    }
    return isShown(key.entity.type)
  }

  func remove(_ key: EntityKey) {
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
  func keep<T: PersistentEntity>(_ value: T) -> any Sendable { store(value) }
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
