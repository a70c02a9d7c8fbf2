#if Server
  import Concord
  import ConcordSync
  import Dispatch

  /// Follows the store's commits, and wakes the requests that wait for what they concern.
  final class LiveFeed: Sendable {
    private let state = Locked(State())
    /// The queue on which commits are looked at, several at once if they come fast.
    private let queue = DispatchQueue(label: "concord.server.live")
    /// The queue on which the store forgets old changes, which may take long.
    private let trimming = DispatchQueue(label: "concord.server.trimming")
    private let metrics: SyncMetrics

    init(_ metrics: SyncMetrics) { self.metrics = metrics }

    /// The number of changes that are looked through at a time. If there are more, all who wait are woken.
    static var mostChanges: Int { 20_000 }

    /// A position up to which commits were looked at.
    struct Seen {
      let position: StorePosition
      /// The number of the look that has found it.
      let look: Int
    }

    private struct State {
      var index = LiveIndex()
      var lastNumber = 0
      var observation: StoreObservation?
      /// The commits that were looked at last; `nil` while nobody waits.
      var seen: Seen?
      /// The number of times that commits were looked at.
      var looks = 0
      var isScheduled = false
      /// The time of the first commit that was not looked at.
      var noticed = ContinuousClock.now
      var isEnded = false
      var lastTrim = ContinuousClock.now
    }

    /// The number of requests that wait.
    var count: Int { state.withLock { $0.index.count } }
    var isIdle: Bool { count == 0 }
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Follows a store.
    func follow(_ store: any RowStore, _ model: Model) {
      let observation = store.observeCommits { [weak self] _ in self?.schedule(store, model) }
      state.withLock { $0.observation = observation }
    }

    /// Finds a position before the first request waits: without one the next commit would wake all that wait by then.
    func begin(_ store: any RowStore) {
      func isNeeded(_ state: State) -> Bool { state.seen == nil && state.index.isEmpty }
      guard state.withLock({ isNeeded($0) }), let position = try? store.read({ try $0.position() }) else { return }
      state.withLock { state in
        // Nobody waits, so nobody has missed what was committed before.
        guard isNeeded(state) else { return }
        state.looks += 1
        state.seen = Seen(position: position, look: state.looks)
      }
    }

    /// The reason why a request gets no place.
    enum Full: Error { case user, server }

    /// Returns a ticket for a request that concerns rows. An earlier request at its place ends.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of requests.
    ///   - userLimit: that of one user.
    /// - Throws: ``Full``.
    func ticket(
      _ predicates: [RowPredicate], at place: WaitingPlace, limit: Int, ofUser userLimit: Int
    ) throws -> LiveTicket {
      let number = state.withLock { state in
        state.lastNumber += 1
        return state.lastNumber
      }
      let ticket = LiveTicket { [weak self] in
        self?.state.withLock { $0.index.remove(number) }
        self?.report()
      }
      let (full, earlier) = state.withLock { state -> (Full?, [LiveTicket]) in
        // A connection that broke may keep its place for long.
        let earlier = state.index.tickets(at: place)
        if state.index.count(of: place.device.user) - earlier.count >= userLimit { return (.user, earlier) }
        if state.index.count - earlier.count >= limit { return (.server, earlier) }
        // With the same lock, or requests that come together would take one place.
        state.index.add(number, ticket, predicates, place)
        return (nil, earlier)
      }
      if let full { throw full }
      report()
      for ticket in earlier { ticket.replace() }
      return ticket
    }

    private func report() {
      let (devices, subscriptions) = state.withLock { ($0.index.count, $0.index.predicateCount) }
      metrics.waiting(devices, subscriptions: subscriptions)
    }

    /// The number of times that commits were looked at so far. What is found from the next time on is no older than what is read before.
    var looks: Int { state.withLock { $0.looks } }

    /// A position up to which nothing concerns a request; `nil` if none is known.
    ///
    /// - Parameter looks: the number of times that commits were looked at when the request had read its state.
    func position(after looks: Int, for ticket: LiveTicket) -> StorePosition? {
      state.withLock { state in
        let seen = ticket.isCalled ? ticket.seen : state.seen
        return seen.flatMap { $0.look > looks ? $0.position : nil }
      }
    }

    /// Ends the request of a device that waits, since another one of it has been answered.
    func replace(_ device: DeviceName) {
      for ticket in state.withLock({ $0.index.tickets(of: device) }) { ticket.replace() }
    }

    /// Wakes a device.
    func wake(_ device: DeviceName) {
      let (tickets, seen) = state.withLock { ($0.index.tickets(of: device), $0.seen) }
      for ticket in tickets { ticket.wake(after: seen) }
    }

    /// Wakes all, for good.
    func end() {
      let tickets = state.withLock { state in
        state.isEnded = true
        return state.index.all
      }
      for ticket in tickets { ticket.wake(after: nil) }
    }

    private func schedule(_ store: any RowStore, _ model: Model) {
      let isNew = state.withLock { state in
        defer { state.isScheduled = true }
        if !state.isScheduled { state.noticed = .now }
        return !state.isScheduled
      }
      if isNew { queue.async { [weak self] in self?.look(store, model) } }
    }

    private func look(_ store: any RowStore, _ model: Model) {
      trim(store)
      let (seen, look, isIdle, noticed) = state.withLock { state in
        state.isScheduled = false
        state.looks += 1
        // With the same lock: a request that waits from now on may find a position first.
        if state.index.isEmpty { state.seen = nil }
        return (state.seen, state.looks, state.index.isEmpty, state.noticed)
      }
      defer { metrics.looked(after: .now - noticed) }
      if isIdle { return }
      let found: (next: StorePosition, changes: LiveChanges?)? = try? store.read { reading in
        // The state is read from here on. Requests that are added later read it themselves, or a later one.
        let next = try reading.position()
        let (types, all) = self.state.withLock { ($0.index.types, $0.index.allTypes) }
        let entities = all.reduce(into: Set<EntityDescription>()) { $0.formUnion(model.contained(in: $1)) }
        guard let seen,
          let changes = try reading.changes(since: seen.position, of: entities, limit: Self.mostChanges)
        else { return (next, nil) }
        return (next, try LiveChanges(changes.rows, types, reading, model))
      }
      // Who is concerned is woken before the position is told to the rest. What cannot be read is found by the requests themselves.
      let woken = state.withLock { state in
        state.seen = found.map { Seen(position: $0.next, look: look) }
        let woken = found?.changes.map { state.index.concerned(by: $0) } ?? state.index.all
        for ticket in woken { ticket.wake(after: seen) }
        return woken
      }
      // A ticket that ends leaves the index, which needs the lock.
      withExtendedLifetime(woken) {}
    }

    /// Finds the requests that a row concerns, with the number of predicates that were looked at for it.
    func concerned(by row: LiveChanges.Row) -> (tickets: [LiveTicket], looked: Int) {
      state.withLock { $0.index.concerned(by: row) }
    }

    /// Lets the store forget old changes, at most once in a while.
    private func trim(_ store: any RowStore) {
      let isDue = state.withLock { state in
        guard ContinuousClock.now - state.lastTrim > .seconds(1) else { return false }
        state.lastTrim = .now
        return true
      }
      guard isDue else { return }
      trimming.async {
        for _ in 0..<200 {
          guard (try? store.trimFeed()) == true else { return }
        }
      }
    }
  }
#endif
