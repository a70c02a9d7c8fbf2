import ConcordPersistence
import Foundation

/// The rows of an outbox that were written after a known version, as one commit has left them.
struct OutboxNews {
  let attachment: StoreAttachment
  let known: OutboxVersion
  let changes: OutboxChanges
}

extension Outbox {
  /// Reads the new rows of the stores, delivers their events, and begins to send.
  func readChanges() {
    reading.lock()
    defer { reading.unlock() }
    let known = state.withLock { $0.stores.compactMapValues(\.version) }
    do {
      let changes = try coordinator.outboxes(after: known)
      state.withLock { state in
        state.isUnread = false
        for attachment in state.stores.keys where changes[attachment] == nil { forget(attachment, &state) }
      }
      take(changes, after: known)
    } catch {
      didFailToRead(error)
    }
    sendNext()
  }

  /// Sends nothing until a reading succeeds, and reads again after a while.
  private func didFailToRead(_ error: any Error) {
    let (isNew, number) = state.withLock { state -> (Bool, Int?) in
      let isNew = !state.isUnread
      state.isUnread = true
      guard state.isStarted, state.rereading == nil else { return (isNew, nil) }
      state.rereading = state.takeNumber()
      return (isNew, state.rereading)
    }
    if isNew { report(error) }
    guard let number else { return }
    begin { [weak self] in
      // By the system's clock, as the stores do.
      while !Task.isCancelled, self?.mustReadAgain(number) ?? false {
        try? await Task.sleep(for: .milliseconds(250))
        self?.readChanges()
      }
    }
  }

  /// Whether a loop has to read again; otherwise it has ended.
  private func mustReadAgain(_ number: Int) -> Bool {
    state.withLock { state in
      guard state.rereading == number else { return false }
      if !state.isUnread { state.rereading = nil }
      return state.isUnread
    }
  }

  /// Takes the rows that a commit has left, without reading, and delivers their events. Reads if there was another commit.
  func take(_ news: OutboxNews) {
    reading.lock()
    let isNext = state.withLock { $0.stores[news.attachment]?.version == news.known }
    if isNext { take([news.attachment: news.changes], after: [news.attachment: news.known]) }
    reading.unlock()
    if !isNext { readChanges() }
  }

  private func take(_ changes: [StoreAttachment: OutboxChanges], after known: [StoreAttachment: OutboxVersion]) {
    let (waiting, mustHold, wasCleared) = state.withLock { state in
      var wasCleared = false
      for (attachment, changes) in changes.sorted(by: { $0.key < $1.key })
      where changes.isWhole || changes.version != known[attachment] {
        if changes.wasCleared, !wasCleared {
          state.tell(.cleared)
          state.followed = FollowedActions()
        }
        wasCleared = wasCleared || changes.wasCleared
        take(changes, of: attachment, &state)
      }
      return (state.takeWaiting(), state.stores.values.contains { $0.count > 0 && !$0.isHeld }, wasCleared)
    }
    if wasCleared { undoManager.removeAllSteps() }
    for continuation in waiting { continuation.resume() }
    if mustHold { beginHolding() }
  }

  /// Takes an action that was just written, without reading, and sends what is to be sent.
  ///
  /// - Returns: whether nothing else is new in its store.
  func takeNext(_ row: OutboxRow, _ action: any ForwardAction, of home: StoreAttachment) -> Bool {
    reading.lock()
    let isTaken = state.withLock { state in
      guard let store = state.stores[home], store.isHeld || !state.isStarted, let version = store.version else {
        return false
      }
      let id = OutboxID(attachment: home, epoch: version.epoch, number: row.number)
      guard version.isFollowed(by: id), state.items[id] == nil else { return false }
      state.stores[home]?.version = OutboxVersion(epoch: version.epoch, number: row.number)
      take(row, action, as: id, isFirst: false, &state)
      return true
    }
    reading.unlock()
    if isTaken { sendNext() }
    return isTaken
  }

  /// A store was detached.
  private func forget(_ attachment: StoreAttachment, _ state: inout OutboxState) {
    if state.stores[attachment]?.count ?? 0 > 0 {
      for item in state.items.values where item.id.attachment == attachment {
        state.followed.didDetach(item)
        remove(item, &state)
      }
    }
    state.stores[attachment] = nil
  }

  private func take(_ changes: OutboxChanges, of attachment: StoreAttachment, _ state: inout OutboxState) {
    let isFirst = state.stores[attachment]?.wasRead != true
    state.stores[attachment, default: .init()].version = changes.version
    state.stores[attachment]?.wasRead = true
    func id(_ row: OutboxRow) -> OutboxID {
      OutboxID(attachment: attachment, epoch: changes.version.epoch, number: row.number)
    }
    if changes.isWhole, state.stores[attachment]?.count ?? 0 > 0 {
      let present = Set(changes.rows.map(id))
      for item in state.items.values where item.id.attachment == attachment && !present.contains(item.id) {
        state.followed.didVanish(item)
        remove(item, &state)
      }
    }
    if changes.isWhole { state.followed.didReadAll(changes.rows, epoch: changes.version.epoch) }
    for row in changes.rows { take(row, as: id(row), isFirst: isFirst, &state) }
  }

  private func take(
    _ row: OutboxRow, _ action: (any ForwardAction)? = nil, as id: OutboxID, isFirst: Bool, _ state: inout OutboxState
  ) {
    let known = state.items[id]
    if let known, known.row == row { return }
    state.followed.take(row, as: id)
    let item = OutboxState.Item(id: id, row: row, action: action ?? known?.action ?? registry.action(row))
    // Another process may have sent it already.
    if known == nil, !isFirst { state.tell(.forwarded(state.entry(item))) }
    if row.state.isFinished {
      if let known { remove(known, &state) }
      // A finished row has no content, so the known one is reported.
      state.tell(row.state == .sent ? .accepted(state.entry(known ?? item)) : .dropped(state.entry(known ?? item)))
      return
    }
    state.items[id] = item
    // A dead letter that is tried again begins anew, whichever process has asked for it.
    if known?.row.state == .refused, row.state == .pending { state.failures[id] = nil }
    if known == nil { state.stores[id.attachment]?.count += 1 }
    enqueue(item, &state)
    if row.state == .refused {
      if !isFirst { state.tell(.refused(state.letter(item))) }
    } else if item.action == nil {
      state.tell(.unknown(state.entry(item)))
    } else if known?.row.state == .refused {
      state.tell(.retried(state.entry(item)))
    }
  }

  private func remove(_ item: OutboxState.Item, _ state: inout OutboxState) {
    state.items[item.id] = nil
    state.stores[item.id.attachment]?.count -= 1
    state.failures[item.id] = nil
    state.lanes.remove(item.id, in: item.lane)
  }

  func enqueue(_ item: OutboxState.Item, _ state: inout OutboxState) {
    let isRefused = item.row.state == .refused
    if isRefused, state.policy.dependents == .goOn {
      state.lanes.remove(item.id, in: item.lane)
    } else {
      state.lanes.set(item.id, in: item.lane, isBlocking: isRefused || item.action == nil)
    }
  }

  /// After a type became known, or the policy changed.
  func readActionsAgain() {
    let waiting = state.withLock { state in
      for (id, item) in state.items {
        let new =
          item.action == nil ? OutboxState.Item(id: id, row: item.row, action: registry.action(item.row)) : item
        state.items[id] = new
        enqueue(new, &state)
      }
      return state.takeWaiting()
    }
    for continuation in waiting { continuation.resume() }
    view.showOverlay()
    sendNext()
  }
}
