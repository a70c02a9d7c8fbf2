extension StoreCore {
  /// Takes all layers off, so that the current state is the base. A part of the open transaction. The lock is held.
  @inline(__always) func exposeBase() { if layers.isActive { exposeLayeredBase() } }

  private func exposeLayeredBase() {
    // A closure of a layer sees the layers below, and its own writes.
    guard layers.running == nil else { return layers.giveUpTracing() }
    if layers.state.isBeneath {
      layers.state.isBeneath = false
    } else {
      guard let mark = layers.state.mark else { return }
      if layers.state.hasOpenPart {
        prepare()
      } else if graph.journal.count > mark {
        // The end of the transaction has gone back to an earlier savepoint.
        graph.journal.end(mark)
        undoWrites(to: layers.state.writes)
      }
    }
    let overlay = layers.takeAllStates()
    layers.leave()
    for state in overlay.states.reversed() { takeOff(state) }
    layers.didExpose()
  }

  /// Restores the base state of a node.
  func takeOff(_ state: SavedState) {
    let node = state.node
    graph.journal.save(node, isWrite: state.isWrite)
    let wasShown = node.exists && !node.flags.contains(.uncommitted)
    restoreLayered(state)
    if wasShown, !node.exists {
      // Observers keep the last value, as of any removed entity.
      node.flags.remove(.uncommitted)
      layers.didTakeOff(node)
    }
    if state.isWrite { graph.didWrite(node) }
  }

  /// Releases the entities that the complete base does not need, before layers are put above it.
  func settleBase() {
    layers.settle {
      completeWrites()
      if projections.isWanted {
        projections.update(self)
        completeWrites()
      }
      reachability.examine()
    }
  }

  /// Begins to write above the base.
  func enterLayers() {
    prepare()
    layers.enter(writeSavepoint)
  }

  /// Prepares for the outermost operation on a store that has layers.
  func beginLayered() {
    guard layers.isActive, !turns.isOpen else { return }
    // Reading may have found entities in computed relations.
    if !graph.journal.isEmpty { commit() }
    layers.begin(writeSavepoint)
  }

  /// Returns the node of an entity that is about to be observed, made if there is none. If layers hide the entity, because nothing that
  /// they show retains it, it is shown from now on. The lock is held.
  func nodeToObserve<T: Identifiable & Sendable>(_ id: T.ID, in table: Table<T>) -> EntityNode<T> {
    let node = table.nodeAwaiting(id)
    guard layers.hasShadows, layers.isHidden(node) else { return node }
    if turns.isOpen {
      layers.mustShowMore = true
    } else {
      beginLayered()
      exposeBase()
    }
    return node
  }

  /// Ends the transaction for layers. Returns the closures to be called after observers were notified.
  func finishLayers() -> [() -> Void] {
    layers.hold()
    let (ended, gone) = layers.finish()
    turns.hasLayers = layers.isActive
    backlog.add()
    for node in gone { log.append(.released, node) }
    return ended.map { record, state in
      if case .dropped(let error) = state { log.append { $0.didDropOptimisticLayer(error) } }
      return record.end(state)
    }
  }

  /// Notes that an update in the running closure of a layer found nothing.
  func noteMissing(_ missing: @autoclosure () -> NothingToUpdate?) {
    if layers.running != nil, layers.missing == nil { layers.missing = missing() }
  }
}
