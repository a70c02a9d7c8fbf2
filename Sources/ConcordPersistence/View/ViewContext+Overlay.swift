import Concord
import ConcordModel
import Synchronization

extension ViewContext {
  /// Lets live queries that begin from now on find and order entities by what optimistic layers of ``store`` show.
  ///
  /// ```swift
  /// container.viewContext.followLayers()
  /// let cheapest = try container.viewContext.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.price)], fetchLimit: 10))
  /// let book = try container.viewContext.find(Book.self, id: "ACK")
  /// container.viewContext.store.optimistically { $0.update(Book.self, id: "ACK") { $0.price = 1 } }   // comes first
  /// ```
  ///
  /// Otherwise a layer changes what a query shows of an entity, and not which entities it shows. It is done already where an outbox shows
  /// what it is to send (`ConcordConnect`). Such a query keeps its entities in order twice, which costs as much again for each change. A layer changes
  /// entities that are in the view: those that are observed, and those that it stores.
  public func followLayers() {
    if followsLayers.exchange(true, ordering: .sequentiallyConsistent) { return }
    let wanted = queries.wanted
    entities.setLayerFollower(
      LayerFollower {
        wanted.withLock { $0 }
      } follow: { [weak self] in
        self?.follow($0) ?? false
      })
  }

  /// Shows an overlay's changes above the stored state.
  package func setOverlay(_ overlay: any ViewOverlay) {
    overlaid.withLock { $0 = overlay }
    followLayers()
    showOverlay()
  }

  /// Updates the queries that need other entities in the view now that layers are shown, in the same transaction.
  private func follow(_ layered: LayeredEntities) -> Bool {
    locked {
      guard !isShowing, !queries.isEmpty, queries.follow(layered, core.parent.model) else { return false }
      show([])
      return true
    }
  }

  /// Shows new changes of the overlay, and returns when they are shown.
  package func showOverlay() {
    if overlay(ifShowing: false) == nil { return }
    entities.transaction { _ in
      locked { _ = show([], withOverlay: true) }
    }
  }

  func overlay(ifShowing: Bool) -> (any ViewOverlay)? {
    overlaid.withLock { $0 }.flatMap { ifShowing && !$0.isShowing ? nil : $0 }
  }

  var isOverlaid: Bool { overlay(ifShowing: true) != nil }

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
}
