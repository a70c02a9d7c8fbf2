import Concord
import ConcordPersistence
import Dispatch
import Foundation

/// The state of a connect: whether it is started, and its stores.
struct LifeState {
  var isStarted = false
  /// The places of the attached stores.
  var places: [StorePlace] = []
  /// The places of the stores that the last stop detached, or could not attach again when it failed, until other stores are
  /// attached.
  var detached: [StorePlace] = []
}

struct StorePlace {
  let store: PersistentStore
  let url: URL
  let configuration: StoreConfiguration
}

extension GenericConnect {
  public var isStarted: Bool { lifeState.withLock { $0.isStarted } }

  // MARK: Starting

  public func start() throws {
    if try isStartedInAction() { return }
    // Also if it is started: it may be stopping.
    try life.sync { try startNow() }
  }

  public func start(block: @escaping @Sendable ((any Error)?) -> Void) {
    life.async { [self] in
      let result = Result { try startNow() }
      // Outside of the queue, so that the block may start and stop.
      DispatchQueue.global().async { block(result.failure) }
    }
  }

  private func startNow() throws {
    if isStarted { return }
    if persistentStores.isEmpty {
      let before = lifeState.withLock { $0.detached }
      if before.isEmpty {
        try attachPersistentStore()
      } else {
        try attachAgain(before)
      }
    }
    lifeState.withLock { $0.isStarted = true }
    scheduler.open()
    schedules.start()
    outbox.start(reachability)
  }

  /// All, or none.
  private func attachAgain(_ places: [StorePlace]) throws {
    var attached: [StorePlace] = []
    do {
      for place in places {
        let store = try container.attachPersistentStore(at: place.url, for: place.configuration)
        attached.append(StorePlace(store: store, url: place.url, configuration: place.configuration))
      }
    } catch {
      for place in attached.reversed() { try? container.detach(persistentStore: place.store) }
      throw error
    }
    lifeState.withLock { state in
      state.places += attached
      state.detached = []
    }
    outbox.storesDidChange()
  }

  /// Keeps in mind where stores come from.
  func noteAttached(_ stores: [PersistentStore], at url: URL, _ configurations: [StoreConfiguration]) {
    let places = zip(stores, configurations).map { StorePlace(store: $0, url: url, configuration: $1) }
    lifeState.withLock { state in
      state.places += places
      state.detached = []
    }
  }

  // MARK: Stopping

  public func stop() throws {
    try refuseInAction("stop()")
    // On the caller's thread, where it is seen whether what is being written calls it, as an action that is tried out.
    outbox.finishWriting()
    try life.sync { try stopNow() }
    // Observers may be notified on the main queue, and would wait for it.
    if !DispatchQueue.main.isCurrent { notices.settle() }
  }

  public func stop(block: @escaping @Sendable ((any Error)?) -> Void) {
    life.async { [self] in
      outbox.finishWriting()
      let result = Result { try stopNow() }
      DispatchQueue.global().async { [self] in
        notices.settle()
        block(result.failure)
      }
    }
  }

  private func stopNow() throws {
    guard isStarted else { return }
    schedules.stop()
    scheduler.close()
    scheduler.waitUntilIdle()
    outbox.stop()
    var detached: [StorePlace] = []
    do {
      for place in lifeState.withLock({ $0.places }) {
        do { try container.detach(persistentStore: place.store) } catch {
          if persistentStores.contains(place.store) { throw error }
          // Somebody else has detached it, who does not want it to be attached again.
          if StoreError.isOfDetachedStore(error) {
            forget([place])
            continue
          }
          report(error)
        }
        detached.append(place)
      }
    } catch {
      // Unwritten changes must not be lost: the connect stays started, with all its stores.
      forget(detached)
      do { try attachAgain(detached) } catch let other {
        report(other)
        lifeState.withLock { $0.detached = detached }
      }
      outbox.didStop()
      scheduler.open()
      schedules.start()
      outbox.start(reachability)
      throw error
    }
    outbox.didStop()
    forget(detached)
    lifeState.withLock { state in
      state.isStarted = false
      state.detached += detached
    }
  }

  private func forget(_ gone: [StorePlace]) {
    lifeState.withLock { state in
      state.places.removeAll { place in gone.contains { $0.store == place.store } }
    }
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
