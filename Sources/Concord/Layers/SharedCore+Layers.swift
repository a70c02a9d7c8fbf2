extension SharedCore {
  /// Adds a layer. Returns the layer, or the one in whose closure it is made. `body` is the first call of the closure.
  func add(
    _ record: LayerRecord, _ token: UInt64, _ body: (SharedCore, _ token: UInt64) throws -> Void
  ) -> LayerRecord {
    beginTurn(token)
    if let outer = core.layers.running {
      unlock()
      try? transaction(token, context: nil, origin: nil) { try body(self, $0) }
      return outer
    }
    core.activateLayers()
    core.beginLayered()
    if core.layers.state.isBeneath {
      // The others are shown, unless some depend on what was written.
      if core.layers.lists.takenOff.isEmpty { core.enterLayers() } else { core.exposeBase() }
    }
    // What layers hide is there below the new one, as when all are replayed.
    if core.layers.hasShadows { core.exposeBase() }
    if !core.layers.isShown, record.waits {
      // All layers are put above the base when the transaction ends. Whether this one applies before does not matter.
      core.layers.lists.append(record)
      core.layers.made.append(record)
      endWrite()
      return record
    }
    if !core.layers.isShown {
      core.enterLayers()
      // Only to find out whether the new layer applies: the base may still change.
      for record in core.layers.lists.pending.elements { _ = replay(record) }
    }
    var hasThrown = false
    let problem = run(record) {
      do { try body($0, $1) } catch {
        hasThrown = true
        throw error
      }
    }
    if problem == nil || record.waits {
      core.layers.lists.append(record)
      core.layers.made.append(record)
    } else if let problem, !hasThrown {
      core.layers.made.append(record)
      core.layers.lists.end(record, as: .dropped(problem))
    }
    endWrite()
    return record
  }

  /// Ends a layer. Returns whether its change is a part of the base.
  func end(_ record: LayerRecord, by ending: LayerStack.Ending) -> Bool {
    beginTurn(0)
    core.beginLayered()
    let isCommitted: Bool
    if core.layers.running == nil {
      isCommitted = endNow(record, ending)
    } else {
      core.layers.request(record, ending)
      isCommitted = false
    }
    endWrite()
    return isCommitted
  }

  private func endNow(_ record: LayerRecord, _ ending: LayerStack.Ending) -> Bool {
    guard core.layers.isPending(record) else { return false }
    if ending == .committing, core.layers.lists.pending.count > 1, commitLowest(record) {
      core.layers.lists.end(record, as: .committed)
      return true
    }
    if ending == .rollingBack, core.layers.lists.pending.count > 1, core.takeOffTopmost(record) {
      core.layers.lists.remove(record)
      core.layers.lists.end(record, as: .rolledBack)
      return false
    }
    if ending == .committing || core.layers.lists.pending.count == 1 {
      core.exposeBase()
    } else {
      core.takeOff(record)
    }
    core.layers.lists.remove(record)
    guard ending == .committing else {
      core.layers.lists.end(record, as: .rolledBack)
      return false
    }
    let problem = run(record, as: .commits, record.apply)
    let isDropped = problem != nil && !record.waits
    core.layers.lists.end(record, as: isDropped ? problem.map { .dropped($0) } ?? .committed : .committed)
    return problem == nil
  }

  /// Runs a layer's closure. If it does not apply, it is undone, and the reason is returned. The lock is held, and released
  /// meanwhile.
  func run(
    _ record: LayerRecord, as priority: StampClock.Priority = .layer,
    _ body: (SharedCore, _ token: UInt64) throws -> Void
  ) -> (any Error)? {
    core.prepare()
    let savepoint = core.savepoint
    let outer = core.graph.journal.begin()
    let start = core.graph.journal.count
    core.layers.run(record)
    core.clock.priority = priority
    var problem: (any Error)?
    withTurn { token in
      do { try body(self, token) } catch { problem = error }
    }
    core.clock.priority = .ordinary
    problem = problem ?? core.layers.missing
    core.layers.didRun()
    if problem == nil {
      core.prepare()
      if priority == .layer { core.layers.didRun(record, since: start) }
    } else {
      core.rollBack(to: savepoint)
      if priority == .layer { core.layers.didFail(record) }
    }
    core.graph.journal.end(outer)
    return problem
  }

  // MARK: The end of a transaction

  /// Ends the outermost operation on a store that has layers: replays them if the base was exposed. The lock is held, and
  /// released.
  func endLayeredWrite() {
    showLayers()
    followLayers()
    core.layers.comeUp()
    performReleases()
    let ended = core.finishLayers()
    commit()
    for tell in ended { tell() }
  }

  /// Lets the follower write what depends on what is shown. Its writes may change that in turn.
  private func followLayers() {
    guard let follower = core.layerFollower else { return }
    for _ in 0..<8 {
      let wanted = follower.wanted()
      let layered = core.layeredEntities(wanted)
      var hasWritten = false
      withTurn { _ in hasWritten = follower.follow(layered) }
      if !hasWritten { return }
      showLayers()
    }
  }

  private func showLayers() {
    if core.layers.mustShowMore { core.exposeBase() }
    core.layers.mustShowMore = false
    if core.layers.state.requests.isEmpty, !replayTakenOff() { core.exposeBase() }
    while core.layers.state.wasExposed || !core.layers.state.requests.isEmpty {
      core.exposeBase()
      endRequested()
      performReleases()
      if core.layers.lists.pending.isEmpty { return }
      core.settleBase()
      core.enterLayers()
      replay()
      if core.layers.state.requests.isEmpty, !core.layers.letGoOfUntouched() { return }
    }
  }

  private func endRequested() {
    while let (record, ending) = core.layers.state.requests.first {
      core.layers.state.requests.removeFirst()
      _ = endNow(record, ending)
    }
  }

  /// Replays only the layers that were taken off.
  ///
  /// - Returns: whether each changed the same nodes as before, so that the other layers are unaffected.
  private func replayTakenOff() -> Bool {
    guard core.layers.state.isBeneath, !core.layers.lists.takenOff.isEmpty else { return true }
    core.enterLayers()
    for record in core.layers.lists.pending.elements(of: core.layers.lists.takenOff) {
      let before = core.layers.nodes(of: record)
      guard replay(record) == nil, core.layers.state.requests.isEmpty,
        core.layers.nodes(of: record, isShown: true) == before
      else { return false }
    }
    return true
  }

  private func replay(_ record: LayerRecord) -> (any Error)? {
    let logCount = core.log.count
    let problem = run(record, record.apply)
    // Changes of a layer are logged only when it is made.
    if !core.layers.logs(record) { core.log.truncate(to: logCount) }
    return problem
  }

  private func replay() {
    for record in core.layers.lists.pending.elements {
      guard let problem = replay(record), !record.waits else { continue }
      core.layers.lists.remove(record)
      core.layers.lists.end(record, as: .dropped(problem))
    }
    core.layers.didReplayAll()
  }
}

extension StoreCore {
  fileprivate func activateLayers() {
    layers.activate(isInTransaction: turns.isOpen)
    turns.hasLayers = true
  }
}
