import ConcordPersistence
import Foundation

extension Outbox {
  /// Reads what is new in the store, tells it, and sends what is to be sent.
  func readChanges() {
    reading.lock()
    defer { reading.unlock() }
    let known = state.withLock { $0.version }
    do {
      let hasStore = coordinator.outboxHome != nil
      let changes = try coordinator.outbox(after: known)
      if changes.version == known, !changes.isWhole { return }
      let waiting = state.withLock { state in
        take(changes, &state)
        state.hasRead = hasStore
        return state.takeWaiting()
      }
      for continuation in waiting { continuation.resume() }
    } catch {
      report(error)
    }
    sendNext()
  }

  private func take(_ changes: OutboxChanges, _ state: inout OutboxState) {
    let isFirst = !state.hasRead
    state.version = changes.version
    if changes.isWhole {
      let present = Set(changes.rows.map(\.number))
      let gone = state.items.values.filter { !present.contains($0.row.number) }
      for item in gone { remove(item, &state) }
    }
    if changes.wasCleared { state.tell(.cleared) }
    for row in changes.rows { take(row, isFirst: isFirst, &state) }
  }

  private func take(_ row: OutboxRow, isFirst: Bool, _ state: inout OutboxState) {
    let known = state.items[row.number]
    if let known, known.row == row { return }
    let item = OutboxState.Item(row: row, action: known?.action ?? registry.action(row))
    if row.state.isFinished {
      if let known { remove(known, &state) }
      // What is of interest is what it was.
      state.tell(row.state == .sent ? .accepted(state.entry(known ?? item)) : .dropped(state.entry(known ?? item)))
      return
    }
    state.items[row.number] = item
    enqueue(item, &state)
    if row.state == .refused {
      if !isFirst { state.tell(.refused(state.letter(item))) }
    } else if item.action == nil {
      state.tell(.unknown(state.entry(item)))
    } else if known?.row.state == .refused {
      state.tell(.retried(state.entry(item)))
    } else if !isFirst {
      state.tell(.forwarded(state.entry(item)))
    }
  }

  private func remove(_ item: OutboxState.Item, _ state: inout OutboxState) {
    let number = item.row.number
    state.items[number] = nil
    state.failures[number] = nil
    state.lanes.remove(number, in: item.lane)
  }

  private func enqueue(_ item: OutboxState.Item, _ state: inout OutboxState) {
    let isRefused = item.row.state == .refused
    if isRefused, state.policy.dependents == .goOn {
      state.lanes.remove(item.row.number, in: item.lane)
    } else {
      state.lanes.set(item.row.number, in: item.lane, isBlocking: isRefused || item.action == nil)
    }
  }

  /// After a type became known, or the policy changed.
  func readActionsAgain() {
    let waiting = state.withLock { state in
      for (number, item) in state.items {
        let new = item.action == nil ? OutboxState.Item(row: item.row, action: registry.action(item.row)) : item
        state.items[number] = new
        enqueue(new, &state)
      }
      return state.takeWaiting()
    }
    for continuation in waiting { continuation.resume() }
    view.showOverlay()
    sendNext()
  }
}
