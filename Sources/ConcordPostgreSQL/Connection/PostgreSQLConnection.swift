#if PostgreSQL
  import CPostgreSQL
  import ConcordModel
  import ConcordPersistence
  import Foundation

  // Relies on: libpq's connection is used by one thread at a time, which the pool sees to.

  /// A connection to a server, which runs statements in batches: a batch is sent at once, and its answers are read afterwards.
  ///
  /// Statements are prepared when they are first run, and kept.
  // Unchecked, because the compiler cannot see that the pool gives a connection to one thread at a time.
  final class PostgreSQLConnection: @unchecked Sendable {
    /// The place of the server, for people.
    let place: String
    /// The mark that the feed notes of this connection's transactions: a server that lost its last commits assigns their ids again.
    let session: String
    /// The id of the last transaction that it has committed.
    var lastTransaction: UInt64 = 0
    private let handle: OpaquePointer
    private let options: PostgreSQLOptions
    private let timeout: TimeInterval
    /// Whether a statement may take as long as it needs, while the server accepts other connections.
    private var isWithoutLimit = false
    /// The names of prepared statements, by their SQL and the types of their parameters.
    private var prepared: [Statement: String] = [:]
    private var lastStatement = 0
    /// Commands that are sent with the next batch, and whose results nobody needs.
    private var deferred: [Command] = []
    /// The batches that were sent whose answers are not read yet: for each answer the statement that it prepares, or `nil`.
    private var unread: [[Statement?]] = []
    /// The way to wait for answers, where it matters that they are known at once.
    var wakefulness: Wakefulness?
    /// The time at which the connection was given back to the pool.
    var idleSince = Date.distantPast
    private(set) var isBroken = false
    /// The number of batches that were sent, each of which took a round trip.
    private(set) var batches = 0

    private struct Statement: Hashable {
      let sql: String
      let types: [UInt32]
    }

    /// The greatest number of prepared statements that a connection keeps.
    private static let mostPrepared = 256

    /// Connects.
    ///
    /// - Parameter session: a name that no other connection has.
    /// - Throws: ``PostgreSQLFailure``.
    init(_ options: PostgreSQLOptions, session: String = UUID().uuidString) throws {
      (self.options, self.session) = (options, session)
      timeout = options.statementTimeout ?? options.timeout
      let connection = try Self.withParameters(options) { PQconnectdbParams($0, $1, 1) }
      guard let connection else {
        throw PostgreSQLFailure(code: "", message: "out of memory", isUnreachable: true, isConnectionLost: true)
      }
      place = Self.place(of: connection)
      guard PQstatus(connection) == CONNECTION_OK else {
        let message = Self.message(of: connection)
        PQfinish(connection)
        throw PostgreSQLFailure(
          code: "", message: message, place: place, isUnreachable: true, isConnectionLost: true)
      }
      handle = connection
      PQsetnonblocking(connection, 1)
      PQsetNoticeProcessor(connection, { _, _ in }, nil)
      PQenterPipelineMode(connection)
      let milliseconds = Int(timeout * 1000)
      deferred = [
        .once("SET search_path TO \(identifier(options.schema)), pg_temp"),
        .once("SET statement_timeout TO \(milliseconds)"),
        .once("SET idle_in_transaction_session_timeout TO 0"),
        .once("SET bytea_output TO hex"),
        // To compile a statement takes the server longer than to run one of these.
        .once("SET jit TO off"),
        .once("SET default_transaction_isolation TO 'read committed'"),
        .once("SET concord.notifies TO off"), .once("SET concord.session TO \(literal(session))"),
        // Who has it can tell that the connection has ended in the server, too.
        .once("SELECT pg_advisory_lock(\(Self.lock(of: session)))"),
      ]
      // If this fails, `deinit` closes the connection.
      try run([])
    }

    deinit { PQfinish(handle) }

    /// The number of the advisory lock that a connection has, as SQL.
    static func lock(of session: String) -> String { "hashtextextended(\(literal(session)), 2)" }

    // MARK: Running

    /// Begins a transaction whose statements may take as long as they need, as long as a server is there: it changes tables, of which one
    /// process does so at a time. Until the closure returns, nothing else limits the time.
    func changingSchema<R>(_ schema: String, _ body: () throws -> R) throws -> R {
      isWithoutLimit = true
      defer { isWithoutLimit = false }
      var lock = PostgreSQLParameters()
      lock.append("concord.\(schema)")
      try run([
        .once("BEGIN"), .once("SET LOCAL statement_timeout TO 0"),
        // Until the end of the transaction.
        .once("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", lock),
      ])
      return try body()
    }

    /// Sends a command with the next batch.
    func later(_ command: Command) { deferred.append(command) }

    /// Forgets what was to be sent with the next batch.
    ///
    /// - Returns: whether there was something.
    func forgetDeferred() -> Bool {
      defer { deferred = [] }
      return !deferred.isEmpty
    }

    /// Runs a statement that waits for the writers of its rows, and goes on with what they have committed, whatever the session's isolation is.
    func write(_ sql: String, _ parameters: PostgreSQLParameters = .none) throws -> PostgreSQLResult {
      do { return try run([.beginWriting, Command(sql: sql, parameters: parameters), .end])[1] } catch {
        _ = rollBack()
        throw error
      }
    }

    func query(_ sql: String, _ parameters: PostgreSQLParameters = .none) throws -> PostgreSQLResult {
      try run([Command(sql: sql, parameters: parameters)])[0]
    }

    /// Runs a batch, and returns the result of each command.
    ///
    /// - Throws: ``PostgreSQLFailure`` of the first command that fails; those after it are not run.
    ///
    /// - Parameter follower: a command that is sent with the batch, and runs behind it by itself. Its answer is not waited for, nor whether it
    ///   fails.
    @discardableResult
    func run(_ commands: [Command], followedBy follower: Command? = nil) throws -> [PostgreSQLResult] {
      guard let task = TaskCancellation.current, let cancellation else { return try answers(commands, follower) }
      do { return try task.during(end: cancellation.cancel) { try answers(commands, follower) } } catch var failure
        as PostgreSQLFailure
      {
        failure.isCancelled = failure.code == "57014" && task.isCancelled
        throw failure
      }
    }

    private func answers(_ commands: [Command], _ follower: Command?) throws -> [PostgreSQLResult] {
      if isBroken {
        throw PostgreSQLFailure(code: "", message: "the connection is closed", place: place, isConnectionLost: true)
      }
      // What is refused here must not take the beginning of the transaction with it.
      try checkSizes(commands)
      let before = deferred
      deferred = []
      if before.isEmpty, commands.isEmpty { return [] }
      batches += 1
      try readUnread()
      /// For each answer that is expected, the position of its command; `nil` for one that nobody needs.
      var expected: [(position: Int?, statement: Statement?)] = []
      for command in before { try send(command, nil, &expected) }
      var size = 0
      for (position, command) in commands.enumerated() {
        try send(command, position, &expected)
        size += command.parameters.bytes.count
        // libpq keeps in one buffer what is not written yet.
        if size >= ParameterRows.mostBytes {
          try flush(Date(timeIntervalSinceNow: timeout + 5))
          size = 0
        }
      }
      guard PQpipelineSync(handle) == 1 else { throw lost() }
      var expectedBehind: [(position: Int?, statement: Statement?)] = []
      if let follower {
        try send(follower, nil, &expectedBehind)
        guard PQpipelineSync(handle) == 1 else { throw lost() }
      }
      let deadline = Date(timeIntervalSinceNow: timeout + 5)
      try flush(deadline)
      var results: [PostgreSQLResult] = []
      results.reserveCapacity(commands.count)
      do {
        defer { if follower != nil { unread.append(expectedBehind.map(\.statement)) } }
        try read(expected, into: &results, deadline)
      } catch var failure as PostgreSQLFailure {
        failure.succeeded = results.count
        // What is unread is taken for the end of the transaction.
        if !isBroken { try? readUnread() }
        throw failure
      }
      return results
    }

    /// The greatest size of a message to the server, which takes less than 1 GB.
    static let mostBytes = (1 << 30) - (1 << 16)
    /// The size of a message beyond which one is refused; tests make it smaller.
    var messageLimit = mostBytes

    /// Refuses values that the server would not take, before something is sent.
    private func checkSizes(_ commands: [Command]) throws {
      for command in commands { try Self.check(size: command.parameters.bytes.count, place, limit: messageLimit) }
    }

    static func check(size: Int, _ place: String, limit: Int = mostBytes) throws {
      if size <= limit { return }
      // The server's code for what is beyond its limits.
      throw PostgreSQLFailure(
        code: "54000", message: "the values of a row have \(size) bytes, and PostgreSQL takes less than 1 GB",
        place: place)
    }

    /// Reads the answers to a batch.
    private func read(
      _ expected: [(position: Int?, statement: Statement?)], into results: inout [PostgreSQLResult], _ deadline: Date
    ) throws {
      var failure: PostgreSQLFailure?
      for (position, statement) in expected {
        guard let result = try next(deadline) else { throw lost() }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
          if position != nil, statement == nil { results.append(PostgreSQLResult(result)) } else { PQclear(result) }
        default:
          if failure == nil { failure = self.failure(result) }
          if let statement { prepared[statement] = nil }
          PQclear(result)
        }
        // Behind the result of each command is a `nil`.
        if let extra = try next(deadline) { PQclear(extra) }
      }
      guard let sync = try next(deadline) else { throw lost() }
      PQclear(sync)
      if let failure { throw failure }
    }

    /// Sends a command whose answer is read before the next batch, such as the end of a reading.
    func finish(_ command: Command) throws {
      var expected: [(position: Int?, statement: Statement?)] = []
      for command in deferred { try send(command, nil, &expected) }
      deferred = []
      try send(command, nil, &expected)
      guard PQpipelineSync(handle) == 1 else { throw lost() }
      try flush(Date(timeIntervalSinceNow: timeout + 5))
      unread.append(expected.map(\.statement))
    }

    /// Reads the answers that nobody has waited for. What has failed there concerns nobody, unless the connection is lost.
    private func readUnread() throws {
      while !unread.isEmpty {
        let deadline = Date(timeIntervalSinceNow: timeout + 5)
        var failure: PostgreSQLFailure?
        for statement in unread.removeFirst() {
          guard let result = try next(deadline) else { throw lost() }
          let status = PQresultStatus(result)
          if status != PGRES_COMMAND_OK, status != PGRES_TUPLES_OK {
            if let statement { prepared[statement] = nil }
            if failure == nil { failure = self.failure(result) }
          }
          PQclear(result)
          if let extra = try next(deadline) { PQclear(extra) }
        }
        guard let sync = try next(deadline) else { throw lost() }
        PQclear(sync)
        if let failure, failure.isConnectionLost { throw failure }
      }
    }

    private func send(
      _ command: Command, _ position: Int?, _ expected: inout [(position: Int?, statement: Statement?)]
    ) throws {
      let parameters = command.parameters
      var name: String?
      if command.isKept {
        let statement = Statement(sql: command.sql, types: parameters.types)
        name = prepared[statement]
        if name == nil {
          if prepared.count >= Self.mostPrepared {
            prepared = [:]
            try send(.once("DEALLOCATE ALL"), nil, &expected)
          }
          lastStatement += 1
          let new = "s\(lastStatement)"
          guard PQsendPrepare(handle, new, command.sql, Int32(parameters.count), parameters.types) == 1 else {
            throw lost()
          }
          prepared[statement] = new
          expected.append((position, statement))
          name = new
        }
      }
      let count = parameters.count
      let isSent = parameters.bytes.withUnsafeBufferPointer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { bytes in
          withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
            withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * count) { numbers in
              // An empty value is not `NULL`, and needs an address.
              let start = bytes.baseAddress ?? Self.nothing
              for index in 0..<count {
                let range = parameters.ranges[index]
                values.initializeElement(at: index, to: range.map { start + $0.lowerBound })
                numbers.initializeElement(at: index, to: Int32(range?.count ?? 0))
                numbers.initializeElement(at: count + index, to: 1)
              }
              let formats = numbers.baseAddress.map { $0 + count }
              if let name {
                return PQsendQueryPrepared(
                  handle, name, Int32(count), values.baseAddress, numbers.baseAddress, formats, 1)
              }
              return PQsendQueryParams(
                handle, command.sql, Int32(count), parameters.types, values.baseAddress, numbers.baseAddress, formats, 1
              )
            }
          }
        }
      }
      guard isSent == 1 else { throw lost() }
      expected.append((position, nil))
    }

    // One byte that is never freed: the address of empty values.
    nonisolated(unsafe) private static let nothing: UnsafePointer<CChar> = {
      let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
      byte.initialize(to: 0)
      return UnsafePointer(byte)
    }()

    // MARK: Waiting

    /// Writes all that is to be sent. What the server sends meanwhile is read, since it may wait for that.
    private func flush(_ deadline: Date) throws {
      while true {
        switch PQflush(handle) {
        case 0: return
        case 1:
          let events = try wait(POLLIN | POLLOUT, deadline)
          if events & POLLIN != 0, PQconsumeInput(handle) == 0 { throw lost() }
        default: throw lost()
        }
      }
    }

    /// The next result; `nil` behind those of a command.
    private func next(_ deadline: Date) throws -> OpaquePointer? {
      while PQisBusy(handle) == 1 {
        try waitForAnswer(deadline)
        if PQconsumeInput(handle) == 0 { throw lost() }
      }
      return PQgetResult(handle)
    }

    private func waitForAnswer(_ deadline: Date) throws {
      guard var wakefulness else { return _ = try wait(POLLIN, deadline) }
      let start = DispatchTime.now()
      let hasCome = wakefulness.wait(for: PQsocket(handle))
      if !hasCome { _ = try wait(POLLIN, deadline) }
      wakefulness.didWait(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds)
      self.wakefulness = wakefulness
    }

    /// Waits until the server has sent something, or takes more.
    ///
    /// - Throws: if that takes too long: the server cannot be asked to stop then, so the connection is given up.
    private func wait(_ events: Int32, _ deadline: Date) throws -> Int32 {
      var deadline = deadline
      var waiting = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
      while true {
        var left = deadline.timeIntervalSinceNow
        if left <= 0, isWithoutLimit, Self.isAccepted(options, serverOf: handle) {
          deadline = Date(timeIntervalSinceNow: timeout)
          left = timeout
        }
        if left <= 0 { throw lost("the server has not answered for \(Int(timeout)) s") }
        let count = poll(&waiting, 1, Int32(min(left * 1000 + 1, 60_000)))
        if count > 0 { return Int32(waiting.revents) }
        if count < 0, errno != EINTR { throw lost() }
      }
    }

    /// Waits for a notification or the end of the connection.
    ///
    /// - Returns: the payloads of the notifications; `nil` if it was interrupted.
    func waitForNotification(_ interval: TimeInterval, interrupt: Int32) throws -> Set<String>? {
      var waiting = [
        pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0),
        pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0),
      ]
      // Otherwise such an answer would end the waiting, as if it had been in vain.
      try readUnread()
      let earlier = takeNotifications()
      if !earlier.isEmpty { return earlier }
      _ = poll(&waiting, 2, Int32((interval * 1000).rounded(.up)))
      if waiting[1].revents != 0 { return nil }
      if waiting[0].revents == 0 { return [] }
      guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { throw lost() }
      return takeNotifications()
    }

    /// Forgets the notifications that have come so far.
    func dropNotifications() { _ = takeNotifications() }

    private func takeNotifications() -> Set<String> {
      var payloads: Set<String> = []
      while let notification = PQnotifies(handle) {
        payloads.insert(String(cString: notification.pointee.extra))
        PQfreemem(notification)
      }
      return payloads
    }

    /// Whether the connection is still there, as far as that is known without asking.
    var isAlive: Bool {
      if isBroken { return false }
      var waiting = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      // A server that says something unasked mostly says that it ends, and the end comes behind that.
      for _ in 0..<8 {
        guard poll(&waiting, 1, 0) > 0 else { break }
        if PQconsumeInput(handle) == 0 { return false }
      }
      return PQstatus(handle) == CONNECTION_OK
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool {
      // What is unread ends it.
      if !unread.isEmpty { return false }
      return switch PQtransactionStatus(handle) {
      case PQTRANS_IDLE: false
      default: true
      }
    }

    /// Ends a transaction without effect.
    ///
    /// - Returns: whether the connection can be used further.
    func rollBack() -> Bool {
      if isBroken { return false }
      if forgetDeferred(), !isInTransaction { return true }
      if !isInTransaction { return true }
      do {
        try run([.once("ROLLBACK")])
        return true
      } catch { return false }
    }

    // MARK: Failures

    private func lost(_ reason: String? = nil) -> PostgreSQLFailure {
      isBroken = true
      let message = reason ?? Self.message(of: handle)
      return PostgreSQLFailure(
        code: "", message: message.isEmpty ? "it was closed" : message, place: place, isConnectionLost: true)
    }

    private func failure(_ result: OpaquePointer) -> PostgreSQLFailure {
      func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
      // The codes of the fields are characters, in macros that Swift does not import.
      func field(_ code: Character) -> String? { code.asciiValue.flatMap { field(Int32($0)) } }
      let code = field("C") ?? ""
      let isLost = PQstatus(handle) != CONNECTION_OK || ["57P01", "57P02", "57P03", "25P03"].contains(code)
      if isLost { isBroken = true }
      return PostgreSQLFailure(
        code: code, message: field("M") ?? Self.message(of: handle), constraint: field("n"), table: field("t"),
        detail: field("D"), isRefusedByPolicy: field("R") == "ExecWithCheckOptions", place: place,
        isConnectionLost: isLost)
    }

    private static func message(of connection: OpaquePointer) -> String {
      // It may have several lines.
      String(cString: PQerrorMessage(connection)).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// A request that cancels the running statement, from any thread.
    var cancellation: PostgreSQLCancellation? { PQgetCancel(handle).map { PostgreSQLCancellation($0) } }

    /// The settings that the connection has asked for, as `-c` and their values.
    var askedSettings: String { PQoptions(handle).map { String(cString: $0) } ?? "" }

    /// The name of the database.
    var database: String { PQdb(handle).map { String(cString: $0) } ?? "" }

    /// The server's process that serves the connection.
    var processID: Int32 { PQbackendPID(handle) }
  }
#endif
