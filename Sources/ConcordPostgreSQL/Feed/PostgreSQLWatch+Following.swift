#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Dispatch
  import Foundation

  extension PostgreSQLWatch {
    /// Follows from now on.
    func start() {
      let isFirst = state.withLock { state in
        defer { state.isStarted = true }
        return !state.isStarted && !state.isStopped
      }
      guard isFirst else { return }
      let thread = Thread { [weak self, state, notification, interval = options.pollInterval, wake, id = pool.id] in
        var connection: PostgreSQLConnection?
        var failures = 0
        var isWoken = false
        while true {
          do {
            guard let self, !state.withLock({ $0.isStopped }) else { return }
            // This thread has nothing else to do before observers know.
            let tells = DirectDelivery.run { ProcessEnd.notDuring { self.follow(&connection, &failures, isWoken) } }
            toldState.end(hasTold: tells)
            DirectDelivery.run { ProcessEnd.notDuring { self.keepUp(&connection, &failures) } }
          }
          if let pause = state.withLock({ connection == nil ? nil : $0.pace.beginPause() }) {
            Self.sleep(pause, wake.read)
            isWoken = true
            // What they wake for is asked now.
            connection?.dropNotifications()
            Self.endPause(state, connection, notification)
          } else {
            isWoken = Self.wait(
              connection, failures == 0 ? interval : min(interval, 0.02 * Double(1 << min(failures, 8))), wake.read,
              id
            ) { state.withLock { $0.isFarBehind || $0.told.count > Self.mostTold } }
          }
        }
      }
      thread.name = "concord.watch"
      thread.start()
    }

    /// Notifies other processes of what was committed in a pause.
    static func endPause(
      _ state: Locked<State>, _ connection: PostgreSQLConnection?, _ notification: PostgreSQLConnection.Command
    ) {
      // Whoever misses it asks after an interval.
      if state.withLock({ $0.pace.endPause() }) { try? connection?.finish(notification) }
    }

    /// The time for which this store's own commits, which are told already, wait until the position goes beyond them.
    private static let ownPause = 0.5
    /// The number of own commits that the position is behind.
    private static let mostTold = 1000

    /// Waits until there may be something new.
    ///
    /// - Returns: whether another process has said that there is.
    /// - Parameters:
    ///   - own: the payload of this store's notifications.
    ///   - isBehind: whether the position has to go beyond own commits.
    private static func wait(
      _ connection: PostgreSQLConnection?, _ interval: TimeInterval, _ wake: Int32, _ own: String,
      _ isBehind: () -> Bool
    ) -> Bool {
      if let connection {
        var end = Date(timeIntervalSinceNow: interval)
        var isOwnSeen = false
        while true {
          // A connection that is lost is found out when it is used next.
          guard
            let payloads = try? connection.waitForNotification(max(0, end.timeIntervalSinceNow), interrupt: wake),
            !payloads.isEmpty
          else { return false }
          if payloads.contains(where: { $0 != own }) { return true }
          if !isOwnSeen { end = min(end, Date(timeIntervalSinceNow: ownPause)) }
          isOwnSeen = true
          if end.timeIntervalSinceNow <= 0 || isBehind() { return false }
        }
      }
      sleep(interval, wake)
      return false
    }

    private static func sleep(_ interval: TimeInterval, _ wake: Int32) {
      var waiting = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
      _ = poll(&waiting, 1, Int32((interval * 1000).rounded(.up)))
    }

    func stop() {
      state.withLock { $0.isStopped = true }
      var byte: UInt8 = 0
      _ = write(wake.write, &byte, 1)
    }

    /// Tells what is new.
    ///
    /// - Parameters:
    ///   - connection: the connection to listen with; `nil` if there is none now.
    ///   - isWoken: whether another process has said that there is something new.
    /// - Returns: whether there was.
    private func follow(
      _ connection: inout PostgreSQLConnection?, _ failures: inout Int, _ isWoken: Bool
    ) -> Bool {
      do {
        if connection == nil || connection?.isAlive == false {
          connection = nil
          let new = try pool.connect()
          new.wakefulness = Wakefulness()
          try new.run([.once("LISTEN \(identifier(FeedTables.channel(options.schema)))")] + Self.settings)
          try checkIdentity(new)
          connection = new
        }
        guard let connection else { return false }
        if state.withLock({ $0.isBeingFilled }) { tellAny(isFilled: try isFilled(connection)) }
        let start = DispatchTime.now()
        let count = try tellNew(connection, keepsState: isWoken)
        let duration = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
        state.withLock { $0.pace.didFind(count, in: duration) }
        return count > 0
      } catch {
        didFail(&connection, &failures)
        return false
      }
    }

    /// Does what has time until all is told.
    private func keepUp(_ connection: inout PostgreSQLConnection?, _ failures: inout Int) {
      guard let listening = connection else { return }
      do {
        // A role that may not trim the feed leaves that to other roles.
        do { try trim(listening) } catch let failure as PostgreSQLFailure where failure.code == "42501" {}
        try removeForeign(listening)
        pool.closeIdle()
        // What could not be read meanwhile can be read again.
        if failures >= Self.mostSilentFailures { tellAny() }
        failures = 0
      } catch { didFail(&connection, &failures) }
    }

    /// The time for which changes that a copy has brought are removed between two looks, in seconds.
    private static let longestRemoval = 0.05

    /// Removes what a copy has brought, if the role may do that.
    private func removeForeign(_ connection: PostgreSQLConnection) throws {
      let hasForeign = state.withLock { state in
        defer { state.hasForeign = false }
        return state.hasForeign
      }
      guard hasForeign else { return }
      do {
        if try ForeignChanges.remove(connection, until: Date(timeIntervalSinceNow: Self.longestRemoval)) {
          noteForeign()
        }
      } catch let failure as PostgreSQLFailure where failure.code == "42501" {}
    }

    private func didFail(_ connection: inout PostgreSQLConnection?, _ failures: inout Int) {
      connection = nil
      failures += 1
      toldState.expectNothing()
      state.withLock { $0.pace.didFail() }
      // Who shows something learns that it cannot be read.
      if failures == Self.mostSilentFailures, !state.withLock({ $0.isStopped }) { tellAny() }
    }

    /// The end of the index is read, whatever the statistics say of changes that are new: no need to plan that each time.
    static let settings: [PostgreSQLConnection.Command] = [
      .once("SET plan_cache_mode TO force_generic_plan"), .once("SET enable_seqscan TO off"),
      // A batch sees one state, without the statements that begin and end a transaction.
      .once("SET default_transaction_isolation TO 'repeatable read'"),
    ]

    private static let mostSilentFailures = 3

    /// Tells that everything may have changed.
    func tellAny(_ note: () -> Void = {}) {
      state.withLock { state in
        state.unknownCount += 1
        feed.willTellUnknown(.any)
      }
      feed.tell([StoreCommit(keys: nil, origin: nil)], note)
    }

    private func checkIdentity(_ connection: PostgreSQLConnection) throws {
      let identity = try Self.identity(connection)
      guard state.withLock({ $0.identity != identity }) else { return }
      let (position, epoch) = try Self.now(connection, store)
      tellAny(isFilled: try isFilled(connection)) {
        // Only now: a connection that is lost before finds the other identity again.
        $0.identity = identity
        ($0.position, $0.epoch) = (position, epoch)
        ($0.told, $0.untold) = ([], [:])
      }
    }

    /// Whether all tables have the triggers that note changes.
    ///
    /// - Parameter connection: one without an open transaction: a name that was replaced in one is found in the next one only.
    private func isFilled(_ connection: PostgreSQLConnection) throws -> Bool {
      try TriggerCheck.changes(tables.values).isComplete { try connection.run($0) }
    }

    /// Tells that everything may have changed in a database that another one may have taken the place of.
    private func tellAny(isFilled: Bool, _ note: (inout State) -> Void = { _ in }) {
      tellAny {
        state.withLock { state in
          note(&state)
          // Triggers may have been disabled, those of the feed of positions, too.
          (state.isBeingFilled, state.hasForeign, state.completeFeed) = (!isFilled, true, nil)
        }
      }
    }

    /// Tells all that is committed and not told yet.
    ///
    /// - Parameter keepsState: whether the state may be kept open that was looked at.
    /// - Returns: the number of commits.
    private func tellNew(_ connection: PostgreSQLConnection, keepsState: Bool = false) throws -> Int {
      try asking.withLock {
        let (position, epoch) = state.withLock { ($0.position, $0.epoch) }
        let expectation = keepsState ? toldState.begin() : nil
        if expectation?.isKeptOpen == true { connection.later(.beginReading) }
        let readAhead = expectation?.tables ?? []
        let results = try connection.run(
          [FeedChanges.command(since: position)] + readAhead.map { ToldRows.command($0, since: position) })
        // It is not known yet how those end that are not told.
        let told = state.withLock { $0.told }
        let changes = try FeedChanges(results[0], since: position, tables, store: store, except: told)
        let isOtherEpoch = changes.epoch != epoch
        if isOtherEpoch, expectation?.isKeptOpen == true { try connection.run([.end]) }
        let isFilled = try !isOtherEpoch || self.isFilled(connection)
        if let expectation, !isOtherEpoch { toldState.keep(connection, expectation) }
        if changes.hasForeign { noteForeign() }
        let isWhole = !isOtherEpoch && !changes.isTrimmed && !changes.isBehind
        let others = state.withLock { state in
          changes.transactions.filter { transaction in
            let id = transaction.id
            if isOwn(id, state) {
              // It is told by now, or will be.
              if state.told.remove(id) == nil { state.untold[id] = transaction.keys }
              return false
            }
            return transaction.isMore || !transaction.keys.isEmpty
          }
        }
        func note(_ state: inout State) {
          (state.position, state.epoch, state.isFarBehind) = (changes.position, changes.epoch, false)
          // Those that have changed nothing are in no feed.
          state.told = state.told.filter { $0.number >= changes.position.xmin && !changes.excepted.contains($0) }
        }
        if isOtherEpoch {
          tellAny(isFilled: isFilled, note)
          return 1
        }
        if !isWhole {
          tellAny { state.withLock(note) }
          return 1
        }
        for transaction in others where transaction.isMore { feed.willTellUnknown(transaction.id) }
        feed.tell(others.map(\.commit)) { state.withLock(note) }
        toldState.isAt(
          changes.position, zip(readAhead, results.dropFirst()).compactMap { ToldRows($1, of: $0, changes) })
        return others.count
      }
    }

    /// Tells all that is committed so far, as far as the server can be asked.
    func settle() {
      guard position != nil else { return }
      _ = try? pool.with { connection in try tellNew(connection) }
    }

    // MARK: Trimming

    private static let batch = 1000

    /// Removes changes that are kept no longer, some at a time.
    private func trim(_ connection: PostgreSQLConnection) throws {
      let pause = min(60, options.feedRetention / 10)
      guard lastTrim.withLock({ -$0.timeIntervalSinceNow >= pause }) else { return }
      // A copy may have come unseen.
      noteForeign()
      guard let position = self.position else { return }
      let trim = Self.trim(olderThan: options.feedRetention, before: position)
      var isMore = false
      // What has failed is not tried again at once: commits would be told later.
      defer { if !isMore { lastTrim.withLock { $0 = Date() } } }
      let result = try connection.write(trim.sql, trim.parameters)
      isMore = result.count > 0 && result.integer(0, 0) >= Int64(Self.batch)
    }

    /// The statement that looks at the oldest changes, and removes those that are older than a time in seconds. Those that seem to come from
    /// later than in such a time were noted while the server's clock was ahead: nobody knows how old they are. If somebody else holds the row of
    /// `concord_state`, maybe for long, it removes none: commits are told by who would wait.
    ///
    /// - Parameter position: what its reader has told. Later changes stay, however old: it would miss them, or not know whether it has.
    static func trim(olderThan time: TimeInterval, before position: FeedPosition) -> PostgreSQLConnection.Command {
      var parameters = PostgreSQLParameters()
      parameters.append(time)
      parameters.append(String(position.xmin))
      return .init(
        sql: """
          WITH first AS MATERIALIZED (
            SELECT ctid AS place, at FROM concord_changes
            WHERE xid < least(pg_snapshot_xmin(pg_current_snapshot()), $2::text::xid8) ORDER BY xid LIMIT \(batch)
          ), expired AS MATERIALIZED (
            SELECT place FROM first
            WHERE at < now() - $1 * interval '1 second' OR at > now() + greatest($1, 60) * interval '1 second'
          ), state AS MATERIALIZED (
            SELECT one FROM concord_state WHERE EXISTS (SELECT 1 FROM expired) FOR UPDATE SKIP LOCKED
          ), old AS (
            SELECT ctid FROM concord_changes
            WHERE ctid = ANY (ARRAY(SELECT place FROM expired WHERE EXISTS (SELECT 1 FROM state))) FOR UPDATE SKIP LOCKED
          ), gone AS (DELETE FROM concord_changes WHERE ctid = ANY (ARRAY(SELECT ctid FROM old)) RETURNING xid)
          UPDATE concord_state SET trimmed = greatest(
            CASE WHEN trimmed < \(FeedTables.nextID) THEN trimmed ELSE '0' END, (SELECT xid FROM gone ORDER BY xid DESC LIMIT 1)
          ) WHERE EXISTS (SELECT 1 FROM gone) RETURNING (SELECT count(*) FROM gone)
          """, parameters: parameters)
    }
  }
#endif
