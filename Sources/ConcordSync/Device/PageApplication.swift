import ConcordConnect

/// Applies a page to the device's file, within one transaction.
struct PageApplication {
  let page: Page
  let request: PageRequest
  /// The subscriptions that the request is for, with their states when it was made.
  let asked: [NotedSubscription]
  let model: Model
  let fingerprint: String
  /// Gives up what was sent for the user before, and reads the entities that pending actions name, without those whose actions the page contains.
  let pending: () throws -> Set<EntityKey>
  /// Reads the keys of the pending actions and of the dead letters.
  let unfinished: () throws -> Set<String>
  let writing: any RowWriting
  /// A closure that is told how many rows are written.
  var progress: (Int) -> Void = { _ in }

  /// The number of rows after which ``progress`` is called.
  static var rowsOfStep: Int { 1000 }

  /// - Returns: `nil` if the file has another position meanwhile, and nothing was written; otherwise the keys of the changed rows.
  func run() throws -> Set<EntityKey>? {
    let state = try DeviceState(writing, model, fingerprint: fingerprint)
    let asked = Dictionary(self.asked.map { ($0.id, $0.state) }) { $1 }
    guard state.position == request.position, state.position == page.from, state.device == request.device,
      // Positions that are not sealed may be the same for several users.
      state.user == request.user, page.subscriptions.count == self.asked.count,
      // The page is to bring what is in the file to its position.
      state.subscriptions.allSatisfy({ !$0.state.isKnown || asked[$0.id] == $0.state })
    else { return nil }
    let present = Dictionary(state.subscriptions.map { ($0.id, $0.state) }) { $1 }
    try noteEarlier(state)
    var removal = try RowsLeaving(model: model, writing: writing, held: pending())
    let notes = removal.notes
    if !state.torn.isEmpty || state.isUnmarked { try notes.carryOver(of: state.device) }

    var isSkipped = false
    for (subscription, asked) in zip(page.subscriptions, self.asked) {
      // It was cancelled meanwhile, or begun anew, perhaps by another user.
      guard present[asked.id] == asked.state else {
        isSkipped = true
        continue
      }
      try apply(subscription, to: asked, ofOtherUser: isOfOtherUser(state), &removal)
    }
    if isOfOtherUser(state) {
      for (id, state) in state.subscriptions where asked[id] != state {
        try leave(names(in: SyncNotes.roots(of: id.text)), of: id, &removal)
      }
    }

    // A row that has left with a cancelled subscription does not stay for an action: what it contains has perhaps left, too, and the page need not
    // bring that again.
    if isSkipped {
      for (key, _) in page.rows where removal.held.contains(key) {
        if try writing.row(of: key) == nil { removal.held.remove(key) }
      }
    }

    var changed: Set<EntityKey> = []
    var postponed: [KeyedRow] = []
    let isFirst = try !hasRows(notes)
    for (index, (key, row)) in page.rows.enumerated() {
      if index > 0, index.isMultiple(of: Self.rowsOfStep) { progress(index) }
      let isWritten = try isFirst ? writeFirst(row, for: key, &removal) : write(row, for: key, &removal)
      if isWritten == .conflicts { postponed.append((key, row)) }
      if isWritten != .same { changed.insert(key) }
    }
    changed.formUnion(try removeGone(&removal))
    // Nobody knows which of the rows that were there have left meanwhile, or were contained in a column that the model has no longer.
    if state.position == nil, !isFirst {
      try notes.forEach { key in
        removal.candidates.append(key)
        return true
      }
    }
    // Rows that are not written yet keep what they refer to.
    let needed = postponed.reduce(into: Set<EntityKey>()) {
      $0.formUnion($1.key.entity.referencedKeys(of: $1.row, in: model))
    }
    removal.held.formUnion(needed)
    try removal.addLingering()
    changed.formUnion(try removal.run())
    changed.formUnion(try write(postponed, keeping: needed, &removal))
    // Its rows are in the page, and perhaps nothing keeps them.
    if isSkipped {
      removal.candidates += page.rows.map(\.key)
      changed.formUnion(try removal.run())
    }

    // Also of rows that were there: another copy of their store may be put in its place.
    if !page.isEmpty || !state.torn.isEmpty {
      try notes.mark(Set(changed.map(\.entity)).union(page.rows.map(\.key.entity)), whole: state.torn)
    }
    // All that there is was in the page.
    if state.position == nil { try writing.setNote("", for: SyncNotes.Head.marks.name) }
    try writing.setNote(page.position, for: SyncNotes.Head.position.name)
    try writing.setNote("\(page.actions)", for: SyncNotes.Head.actions.name)
    try writing.setNote("\(page.refusedActions)", for: SyncNotes.Head.refused.name)
    try writing.setNote(page.user, for: SyncNotes.Head.user.name)
    try writing.setNote(fingerprint, for: SyncNotes.Head.model.name)
    return changed
  }

  /// Notes of the actions that are not decided, as far as the file tells, that they are from before the page, if the server has forgotten keys of which
  /// no page has told: these may be theirs, if the file is a copy that was put back.
  private func noteEarlier(_ state: DeviceState) throws {
    // The numbers are those of one user.
    let (named, overflows) = state.actions.addingReportingOverflow(Int64(page.keys.count))
    guard !isOfOtherUser(state), !overflows, page.actions > named else { return }
    for key in try unfinished().subtracting(page.keys) {
      let name = SyncNotes.sending(key)
      var sending = SendingState(note: try writing.note(name))
      // One that is on its way has the numbers of an earlier page, which it keeps also if that request is not decided.
      if sending.since == nil {
        (sending.since, sending.sinceRefused, sending.user) = (state.actions, state.refused, page.user)
      }
      guard sending.user == nil || sending.user == page.user else { continue }
      sending.mayBeForgotten = true
      try writing.setNote(sending.note, for: name)
    }
  }

  /// Whether the file has rows of another user than that of the page.
  private func isOfOtherUser(_ state: DeviceState) -> Bool { state.user != nil && state.user != page.user }

  /// Takes rows from a subscription.
  private func leave(_ names: [String], of id: SubscriptionID, _ removal: inout RowsLeaving) throws {
    for name in names {
      try writing.setNote(nil, for: NoteName(SyncNotes.roots(of: id.text), name))
      if let key = EntityKey(noteName: name, in: model) { removal.candidates.append(key) }
    }
  }

  private func apply(
    _ subscription: Page.Subscription, to asked: NotedSubscription, ofOtherUser isOther: Bool,
    _ removal: inout RowsLeaving
  ) throws {
    let id = asked.id
    let space = SyncNotes.roots(of: id.text)
    if let reason = subscription.refusal {
      // A server of an earlier release may not know the publication yet: the user's rows stay until they are refused again.
      if !subscription.isUnknown || asked.state.wasRefused || isOther {
        try leave(names(in: space), of: id, &removal)
      }
      return try writing.setNote(SubscriptionState.refused(reason).note, for: SyncNotes.subscription(id.text))
    }
    guard let entity = model.entity(named: subscription.entity) else {
      throw WireRowReader.Incompatible(description: "this program does not know the entity '\(subscription.entity)'")
    }
    let entered = subscription.entered.map { EntityKey(entity, $0).noteName }
    if subscription.isWhole {
      let present = try names(in: space)
      if !present.isEmpty {
        let wanted = Set(entered)
        try leave(present.filter { !wanted.contains($0) }, of: id, &removal)
      }
    }
    try leave(subscription.left.map { EntityKey(entity, $0).noteName }, of: id, &removal)
    for name in entered { try writing.setNote("", for: NoteName(space, name)) }
    try writing.setNote(
      SubscriptionState.known(condition: subscription.condition).note, for: SyncNotes.subscription(id.text))
  }

  private func names(in space: String) throws -> [String] {
    var names: [String] = []
    try writing.notes(in: space, after: nil) { name, _ in
      names.append(name)
      return true
    }
    return names
  }

  /// Removes rows that the server has no longer, whatever refers to them.
  private func removeGone(_ removal: inout RowsLeaving) throws -> Set<EntityKey> {
    var removed: Set<EntityKey> = []
    for gone in page.gone {
      guard let entity = model.entity(named: gone.entity) else { continue }
      let key = EntityKey(entity, gone.id)
      guard try removal.notes.note(of: key) == "" else { continue }
      if let row = try writing.row(of: key) {
        try writing.delete(key)
        removed.insert(key)
        removal.candidates += entity.referencedKeys(of: row, in: model)
      }
      try removal.notes.set(nil, of: key)
    }
    return removed
  }

  private enum Written { case written, same, conflicts }

  /// Whether the server has sent rows before.
  private func hasRows(_ notes: RowNotes) throws -> Bool {
    var isFound = false
    try notes.forEach { _ in
      isFound = true
      return false
    }
    return isFound
  }

  /// Writes a row of the first ones, about which nothing is noted. Most often the file has none.
  private func writeFirst(_ row: StoredRow, for key: EntityKey, _ removal: inout RowsLeaving) throws -> Written {
    do {
      guard try writing.insert(row, for: key) else { return try write(row, for: key, &removal) }
    } catch StoreError.notUnique {
      return .conflicts
    }
    try removal.notes.set("", of: key)
    return .written
  }

  private func write(_ row: StoredRow, for key: EntityKey, _ removal: inout RowsLeaving) throws -> Written {
    let stored = try writing.row(of: key)
    let note = try removal.notes.note(of: key)
    // A row that was there before is the app's own. If it has gone, so has what was noted of it.
    if note == nil || stored == nil && note != "" {
      try removal.notes.set(stored == nil ? "" : SyncNotes.ownValue, of: key)
    }
    if let stored {
      if stored == row { return .same }
      let kept = key.entity.referencedKeys(of: row, in: model)
      removal.candidates += key.entity.referencedKeys(of: stored, in: model).subtracting(kept)
    }
    do {
      if let stored {
        try writing.update(row, replacing: stored, for: key)
      } else {
        _ = try writing.insert(row, for: key)
      }
      return .written
    } catch StoreError.notUnique {
      return .conflicts
    }
  }

  /// Writes rows whose unique values other rows had, which are gone, or are among them, or stay for pending actions only: those give way.
  ///
  /// - Returns: the keys of the rows that gave way.
  private func write(
    _ rows: [KeyedRow], keeping needed: Set<EntityKey>, _ removal: inout RowsLeaving
  ) throws -> Set<EntityKey> {
    var removed: Set<EntityKey> = []
    for (key, _) in rows { try writing.delete(key) }
    for (key, row) in rows {
      do {
        _ = try writing.insert(row, for: key)
      } catch StoreError.notUnique {
        removed.formUnion(try removal.makeWay(for: row, key.entity, keeping: needed))
        _ = try writing.insert(row, for: key)
      }
      if try removal.notes.note(of: key) == nil { try removal.notes.set("", of: key) }
    }
    return removed
  }
}
