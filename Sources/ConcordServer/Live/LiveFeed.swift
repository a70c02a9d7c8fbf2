#if Server
  import Concord
  import ConcordSync
  import Dispatch

  /// Follows the store's commits, and wakes the requests that wait for what they concern.
  final class LiveFeed: Sendable {
    private let state = Locked(State())
    /// The queue on which commits are looked at, several at once if they come fast.
    private let queue = DispatchQueue(label: "concord.server.live")

    private struct State {
      var index = LiveIndex()
      var lastNumber = 0
      var observation: StoreObservation?
      /// The position up to which commits were looked at; `nil` while nobody waits.
      var position: StorePosition?
      var isScheduled = false
      var isEnded = false
    }

    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Follows a store.
    func follow(_ store: any RowStore, _ model: Model) {
      let observation = store.observeCommits { [weak self] _ in self?.schedule(store, model) }
      state.withLock { $0.observation = observation }
    }

    /// Returns a place for a request that concerns rows; `nil` if there are too many.
    func ticket(_ predicates: [RowPredicate], device: DeviceName, limit: Int) -> LiveTicket? {
      let number: Int? = state.withLock { state in
        guard state.index.count < limit else { return nil }
        state.lastNumber += 1
        return state.lastNumber
      }
      guard let number else { return nil }
      let ticket = LiveTicket { [weak self] in self?.state.withLock { $0.index.remove(number) } }
      state.withLock { $0.index.add(number, ticket, predicates, device) }
      return ticket
    }

    /// Wakes a device.
    func wake(_ device: DeviceName) { for ticket in state.withLock({ $0.index.tickets(of: device) }) { ticket.wake() } }

    /// Wakes all, for good.
    func end() {
      let tickets = state.withLock { state in
        state.isEnded = true
        return state.index.all
      }
      for ticket in tickets { ticket.wake() }
    }

    private func schedule(_ store: any RowStore, _ model: Model) {
      let isNew = state.withLock { state in
        defer { state.isScheduled = true }
        return !state.isScheduled
      }
      if isNew { queue.async { [weak self] in self?.look(store, model) } }
    }

    private func look(_ store: any RowStore, _ model: Model) {
      let (position, isIdle) = state.withLock { state in
        state.isScheduled = false
        return (state.position, state.index.isEmpty)
      }
      if isIdle { return state.withLock { $0.position = nil } }
      let found: (next: StorePosition, changes: LiveChanges?)? = try? store.read { reading in
        // The state is read from here on. Requests that are added later read it themselves, or a later one.
        let next = try reading.position()
        guard let position, let changes = try reading.changes(since: position), changes.hasBefore else {
          return (next, nil)
        }
        let types = self.state.withLock { $0.index.types }
        return (next, try LiveChanges(changes.rows, types, reading, model))
      }
      // What cannot be read is found by the requests themselves.
      let woken = state.withLock { state in
        state.position = found?.next
        return found?.changes.map { state.index.concerned(by: $0) } ?? state.index.all
      }
      for ticket in woken { ticket.wake() }
    }
  }
#endif
