#if Inspector
  // What an inspector asks of a store. Nothing of it is used without one.

  /// An attached inspector: the engine notes for it who observes and who writes.
  package final class StoreInspection: Sendable {
    private let shared: SharedCore
    private let recording = Locked<Subscription?>(nil)
    private let onCommit: @Sendable (ChangeSet) -> Void

    fileprivate init(_ shared: SharedCore, _ onCommit: @escaping @Sendable (ChangeSet) -> Void) {
      (self.shared, self.onCommit) = (shared, onCommit)
    }

    /// Begins or ends telling the inspector of each transaction. Never waits for a transaction, and may be called by the closure that is
    /// told.
    package func record(_ isWanted: Bool) {
      let former = recording.withLock { $0.take() }
      former?.unsubscribe()
      let source = shared.readCommitted { core in
        core.feed.inspection?.endRecording()
        return isWanted ? ChangeSource(core.feed.node, shared) : nil
      }
      guard let source else { return }
      let subscription = source.subscribe(shared.lines.direct, .every, at: .recorder, onCommit)
      recording.withLock { $0 = subscription }
    }

    /// Allows that some more observers are noted which hold an entity.
    package func noteHolders() { shared.readCommitted { $0.feed.noteHolders() } }

    /// Ends the inspection: the engine notes nothing any longer.
    package func end() {
      record(false)
      let notes = shared.readCommitted { $0.feed.inspection.take() }
      withExtendedLifetime(notes) {}
    }
  }

  extension EntityStore {
    /// Attaches an inspector.
    ///
    /// - Parameters:
    ///   - trace: a function that notes the calling functions. It is called with the store's lock held, and must be short.
    ///   - hasNotedMany: a function that is called when no more observers are noted that hold an entity, until
    ///     ``StoreInspection/noteHolders()`` is called. It is called with the store's lock held, too.
    ///   - onCommit: a closure that receives each transaction while it is recording.
    /// - Returns: `nil` if another inspector is attached.
    package func beginInspection(
      trace: @escaping @Sendable () -> (any Sendable)?, hasNotedMany: @escaping @Sendable () -> Void,
      _ onCommit: @escaping @Sendable (ChangeSet) -> Void
    ) -> StoreInspection? {
      let isFirst = shared.readCommitted { core in
        guard core.feed.inspection == nil else { return false }
        core.feed.inspection = Inspection(
          writes: core.feed.inspectedWrites, trace: trace, hasNotedMany: hasNotedMany)
        return true
      }
      return isFirst ? StoreInspection(shared, onCommit) : nil
    }

    /// The number of writes to the store and of releases so far.
    package var inspectedWrites: UInt64 { shared.readCommitted { $0.feed.inspectedWrites } }

    /// Whether something has changed since the last recorded transaction.
    package var inspectedGap: Bool {
      shared.readCommitted { $0.feed.inspection?.hasGap(writes: $0.feed.inspectedWrites) ?? true }
    }

    /// The types of which entities are stored, with their numbers.
    package func inspectedTypes() -> [(type: any (Identifiable & Sendable).Type, count: Int)] {
      shared.readCommitted { core in
        core.graph.allTables.compactMap { table in
          guard !table.isInternal else { return nil }
          let nodes = table.allNodes().filter { core.isShownToInspector($0) }
          return nodes.first.flatMap { core.shownEntity(of: $0) }.map { (Swift.type(of: $0), nodes.count) }
        }
      }
    }

    /// The stored entities of a type, in no particular order. The entities inside their values may be old.
    package func inspectedEntities(of type: ObjectIdentifier) -> [InspectedSummary] {
      shared.readCommitted { core in
        core.graph.allTables.first { $0.valueType == type && !$0.isInternal }?.allNodes().compactMap { node in
          core.isShownToInspector(node) ? core.summary(of: node) : nil
        } ?? []
      }
    }

    /// The stored ones of some entities.
    package func inspectedEntities(_ keys: [InspectedKey]) -> [InspectedKey: InspectedSummary] {
      shared.readCommitted { core in
        var found: [InspectedKey: InspectedSummary] = [:]
        for key in keys { found[key] = core.node(key).flatMap { core.summary(of: $0) } }
        return found
      }
    }

    /// Returns what the store knows of an entity; `nil` if it is not stored.
    package func inspectedEntity(_ key: InspectedKey) -> InspectedEntity? {
      shared.readCommitted { core in core.node(key).flatMap { core.inspected($0) } }
    }

    /// The pending optimistic layers, the lowest first, with the entities that they change.
    package func inspectedLayers() -> [[InspectedKey]] {
      shared.readCommitted { core in
        core.layers.lists.pending.elements.map { record in
          (core.layers.nodesChanged(by: record) ?? []).compactMap { InspectedKey($0) }
        }
      }
    }

    /// The live queries.
    package func inspectedQueries() -> [InspectedQuery] {
      shared.readCommitted { core in core.hubs.all.compactMap { $0.inspected(core) } }
    }
  }

  extension StoreCore {
    fileprivate func isShownToInspector(_ node: Node) -> Bool { turns.isOpen ? view.exists(node) : node.exists }

    /// The committed value, in which the entities inside it may be old.
    fileprivate func shownEntity(of node: Node) -> (any Identifiable & Sendable)? {
      turns.isOpen ? node.table.committedEntity(of: node, view) : node.table.entity(of: node)
    }

    func node(_ key: InspectedKey) -> Node? {
      graph.allTables.first { $0.valueType == key.type && !$0.isInternal }?.node(key.id)
        .flatMap { isShownToInspector($0) ? $0 : nil }
    }

    fileprivate func summary(of node: Node) -> InspectedSummary? {
      guard let key = InspectedKey(node), let value = shownEntity(of: node) else { return nil }
      return InspectedSummary(
        key: key, value: value, observers: node.subscribers.count { !$0.isRelay }, holders: Int(node.holders.count),
        parents: node.parents.count)
    }

    fileprivate func inspected(_ node: Node) -> InspectedEntity? {
      if !turns.isOpen { refresh(node) }
      guard let value = shownEntity(of: node) else { return nil }
      var entity = InspectedEntity(value: value, stamp: node.stamp)
      for subscriber in node.subscribers {
        if subscriber.isRelay {
          entity.relays += 1
        } else {
          entity.observerCount += 1
          if entity.observers.count < InspectedEntity.mostObservers { entity.observers.append(inspected(subscriber)) }
        }
      }
      // Several subscriptions may share what holds the entity: the observer that they were made with.
      let subscribed = Set(node.subscribers.compactMap(\.holder))
      entity.holders = max(0, Int(node.holders.count) - subscribed.count)
      entity.holderOrigins = feed.inspection?.holderOrigins(of: node, except: subscribed) ?? []
      for edge in node.parents where edge.parent is any AliasNode {
        if let name = edge.parent.table.id(of: edge.parent) { entity.aliases.append("\(name.base)") }
      }
      for (index, record) in layers.lists.pending.elements.enumerated()
      where layers.nodesChanged(by: record)?.contains(where: { $0 === node }) ?? false {
        entity.layers.append(index)
      }
      entity.path = pathToRoot(from: node).compactMap { InspectedKey($0) }
      return entity
    }

    fileprivate func inspected(_ subscriber: Subscriber) -> InspectedObserver {
      InspectedObserver(
        origin: feed.inspection?.origin(of: subscriber), line: subscriber.line.kind, isEvery: subscriber.buffersCalls,
        isPaused: subscriber.isPaused)
    }

    /// The observers of a hub.
    func inspectedObservers(of node: Node) -> [InspectedObserver] {
      node.subscribers.filter { !$0.isRelay }.map { inspected($0) }
    }

    /// Returns the shortest way up from an entity to one that is held by itself: by an observer or an alias. The entity comes first.
    private func pathToRoot(from start: Node) -> [Node] {
      var below: [ObjectIdentifier: Node] = [ObjectIdentifier(start): start]
      var turn = [start]
      while !turn.isEmpty, below.count < 10_000 {
        var next: [Node] = []
        for node in turn {
          if node.holders.count > 0 || node.table.isInternal {
            var path = [node]
            while let last = path.last, last !== start, let lower = below[ObjectIdentifier(last)] { path.append(lower) }
            return path.reversed()
          }
          for edge in node.parents where below[ObjectIdentifier(edge.parent)] == nil {
            below[ObjectIdentifier(edge.parent)] = node
            next.append(edge.parent)
          }
        }
        turn = next
      }
      return [start]
    }
  }
#endif
