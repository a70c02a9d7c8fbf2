#if Server
  import ConcordSync

  /// Makes a page for one device, of one committed state.
  struct PageMaker {
    let request: PageRequest
    let asked: [Asked]
    let user: String
    let model: Model
    let seal: SyncSeal
    /// The device's position, with the states that the device has there.
    let opened: SyncSeal.Opened?
    let reading: any RowReading
    let unanswered: UnansweredRows
    /// The number of changes since the device's position that are looked through one by one. If there are more of them, each row of its subscriptions is
    /// asked about: changes of rows outside of them must not cost the device more.
    let mostChanges: Int

    /// - Parameter known: a position to which the device's own leads without anything that concerns it; the device's own, if nothing
    ///   else is known.
    /// - Returns: a page that does not name its position yet.
    func page(knownFrom known: StorePosition?) throws -> Made {
      // The rows of another user are all replaced.
      let isSameUser = request.user == nil || request.user == user
      var from = isSameUser ? known : nil
      let position = try reading.position(reading: readEntities)
      var changes = try KnownChanges(since: from, of: entities, limit: mostChanges, reading)
      // Transactions that were open at the later position may be forgotten; at the device's own none may have been.
      if changes.isUnknown, isSameUser, let own = opened?.position, own != from {
        from = own
        changes = try KnownChanges(since: own, of: entities, limit: mostChanges, reading)
      }
      // Where the position is not known, the server may be another one, or restored, and has counted other actions.
      let (counts, keys) = try decided(after: changes.isUnknown ? 0 : request.actions)
      var page = Page(
        from: request.position, position: "", user: user, actions: counts.accepted, keys: keys,
        schema: WireSchema(entities), subscriptions: [])
      page.refusedActions = counts.refused
      var states: [SyncSeal.State] = []
      var collector = RowCollector(reading: reading, model: model, since: from)
      for (asked, subscription) in zip(asked, request.subscriptions) {
        switch asked {
        case .refused(let reason):
          var refused = Page.Subscription()
          refused.refusal = reason
          page.subscriptions.append(refused)
        case .unknown:
          var refused = Page.Subscription()
          (refused.refusal, refused.isUnknown) = ("there is no such publication", true)
          page.subscriptions.append(refused)
        case .served(let predicate, let condition):
          // Another condition may hold for rows that have not changed.
          let isKnown = subscription.known == condition && isSameUser
          let served = Served(predicate: predicate, publication: subscription.name, unanswered: unanswered)
          var state = SyncSeal.State(condition: condition, result: isKnown ? opened?.result(of: condition) : nil)
          var found = try changed(served, isKnown ? changes : .unknown, &state, &collector)
          found.condition = condition
          page.subscriptions.append(found)
          states.append(state)
        }
      }
      page.rows = collector.rows
      page.gone = collector.gone
      return Made(page: page, position: position, states: states)
    }

    /// A page.
    struct Made {
      let page: Page
      /// The position of its state.
      let position: StorePosition
      /// The state of a device that has applied the page.
      let states: [SyncSeal.State]
    }

    /// The entities whose rows are read: those that may be in the page, and those that predicates look at.
    private var readEntities: Set<EntityDescription> {
      asked.compactMap(\.predicate).reduce(into: entities) { $0.formUnion($1.otherEntities) }
    }

    /// The entities whose rows may be in the page.
    private var entities: Set<EntityDescription> {
      asked.compactMap(\.predicate).reduce(into: []) { $0.formUnion(model.contained(in: $1.entity)) }
    }

    // MARK: Subscriptions

    /// Finds what has changed for a subscription.
    ///
    /// - Parameters:
    ///   - changes: what has changed since the state that the device has; unknown if it has none.
    ///   - state: the state that the device has; the one that it gets.
    private func changed(
      _ predicate: Served, _ changes: KnownChanges, _ state: inout SyncSeal.State, _ collector: inout RowCollector
    ) throws -> Page.Subscription {
      var concerned: [RowChange]?
      if case .each(let changes) = changes {
        let contained = model.contained(in: predicate.entity)
        concerned = changes.filter { contained.contains($0.key.entity) }
      }
      if concerned?.isEmpty == true { return subscription(predicate) }
      guard predicate.isOfColumns else {
        // It may change without the row.
        return seal.isHiding ? try result(predicate, &state, &collector) : try whole(predicate, .all, &collector)
      }
      // The sum of the keys that the device has.
      let sum = KeySum(state.result, seal)
      if let concerned {
        let found = try difference(predicate, concerned, &collector)
        var next = sum
        next?.add(found.entered)
        next?.subtract(found.left)
        state.result = next?.text
        return found
      }
      var found = try whole(predicate, changes.isUnknown ? .all : .changed, &collector)
      guard seal.isHiding else { return found }
      var next = KeySum(seal)
      next.add(found.entered)
      state.result = next.text
      // The device has these keys. To send them would tell how much other users have written.
      if !changes.isUnknown, next == sum { (found.isWhole, found.entered) = (false, []) }
      return found
    }

    private func subscription(_ predicate: Served) -> Page.Subscription {
      var subscription = Page.Subscription()
      subscription.entity = predicate.entity.name
      return subscription
    }

    /// Sends all keys, and the rows that the device may not have.
    private func whole(
      _ predicate: Served, _ wanted: RowCollector.Wanted, _ collector: inout RowCollector
    ) throws -> Page.Subscription {
      var subscription = subscription(predicate)
      subscription.isWhole = true
      subscription.entered = try predicate.keys(reading)
      try collector.add(subscription.entered.map { EntityKey(predicate.entity, $0) }, wanted)
      return subscription
    }

    /// Sends all keys and rows, unless the device has the same: an answer at each commit would tell of the commits of other users.
    private func result(
      _ predicate: Served, _ state: inout SyncSeal.State, _ collector: inout RowCollector
    ) throws -> Page.Subscription {
      var own = RowCollector(reading: reading, model: model, since: nil)
      let found = try whole(predicate, .all, &own)
      let digest = ResultDigest(predicate.entity, found.entered, own).text(seal)
      if digest == state.result { return subscription(predicate) }
      state.result = digest
      collector.add(own)
      return found
    }

    /// Decides by each changed row as it was and as it is.
    private func difference(
      _ predicate: Served, _ changes: [RowChange], _ collector: inout RowCollector
    ) throws -> Page.Subscription {
      var subscription = subscription(predicate)
      var containers = RowContainers(reading: reading, model: model)
      try reading.prepare(changes.map(\.key))
      for change in changes {
        let row = try reading.row(of: change.key)
        if change.key.entity == predicate.entity {
          let id = change.key.id
          let was = try change.before.map { try predicate.held($0, key: id) } ?? false
          let isIn = try row.map { try predicate.holds($0.values, key: id) } ?? false
          if was != isIn { if isIn { subscription.entered.append(id) } else { subscription.left.append(id) } }
          if isIn {
            if was { try collector.add(change) } else { try collector.add([change.key], .all) }
            continue
          }
        }
        // It may stand inside of a row of the subscription, also if another program has removed it.
        if try containers.holds(predicate, above: change.key) { try collector.add(change) }
      }
      return subscription
    }

    // MARK: Actions

    /// Returns the numbers of the device's actions that the state contains, and the keys of the accepted ones after a number.
    private func decided(after number: Int64) throws -> (counts: ActionCounts, keys: [String]) {
      let notes = ServerNotes(user: user, device: request.device)
      let counts = ActionCounts(try reading.note(notes.count))
      let last = counts.accepted
      var keys: [String] = []
      if number != last {
        // A device that knows more than the server has the notes of another server.
        let after = number < last ? number : 0
        try reading.notes(in: notes.order, after: ServerNotes.text(of: after)) { _, key in
          keys.append(key)
          return true
        }
      }
      let found = Set(keys)
      for key in Set(request.awaited.prefix(PageRequest.mostAwaited)).subtracting(found) {
        if try reading.note(notes.decision(on: key)) == ServerNotes.accepted { keys.append(key) }
      }
      return (counts, keys)
    }
  }
#endif
