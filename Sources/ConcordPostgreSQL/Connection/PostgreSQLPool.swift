#if PostgreSQL
  import Concord
  import ConcordModel
  import Foundation

  /// The connections of a store. Each is used by one thread at a time.
  final class PostgreSQLPool: Sendable {
    /// The beginning of the names of all its connections.
    let id = UUID().uuidString + "."
    private let lastConnection = Locked(0)
    private let options: PostgreSQLOptions
    private let store: String
    private let state = Locked(State())
    /// Signalled whenever a connection is given back.
    private let returned = NSCondition()

    private struct State {
      var idle: [PostgreSQLConnection] = []
      /// The number of connections in use.
      var used = 0
      var isClosed = false
    }

    init(_ options: PostgreSQLOptions, store: String) { (self.options, self.store) = (options, store) }

    /// The number of connections.
    var count: Int { state.withLock { $0.idle.count + $0.used } }

    /// Runs a closure with a connection, which is given back afterwards.
    ///
    /// - Parameters:
    ///   - isNested: whether the thread has one already. It then gets one beyond the limit, since it would wait for itself.
    ///   - mayBeLost: whether the closure is run again with another connection if this one is found to be lost. Then one that was used just
    ///     now is not looked at before.
    func with<R>(
      isNested: Bool = false, mayBeLost: Bool = false, _ body: (PostgreSQLConnection) throws -> R
    ) throws -> R {
      let connection = try take(isNested: isNested, mayBeLost: mayBeLost)
      defer { give(connection) }
      return try body(connection)
    }

    /// Takes a connection out of the pool if a closure wants to keep it, which then belongs to the caller; otherwise it is given back.
    func withdraw(where isWanted: (PostgreSQLConnection) throws -> Bool) throws -> PostgreSQLConnection? {
      let connection = try take(isNested: false)
      do {
        if try isWanted(connection) {
          leave()
          return connection
        }
      } catch {
        give(connection)
        throw error
      }
      give(connection)
      return nil
    }

    /// Gives the pool a connection that was taken out of it.
    func putBack(_ connection: PostgreSQLConnection) {
      state.withLock { $0.used += 1 }
      give(connection)
    }

    /// The time for which a connection that was given back is taken for one that is still there, in seconds.
    private static let freshness = 0.02

    private func take(isNested: Bool, mayBeLost: Bool = false) throws -> PostgreSQLConnection {
      let now = Date()
      let deadline = now + options.timeout
      returned.lock()
      while true {
        let (connection, mayConnect, isClosed) = state.withLock { state in
          // One that is left while all are in use is for those who have them, and read again.
          let mayConnect = isNested || state.used < options.poolSize
          let connection = state.isClosed || !mayConnect ? nil : state.idle.popLast()
          if mayConnect { state.used += 1 }
          return (connection, mayConnect, state.isClosed)
        }
        if isClosed {
          if mayConnect { state.withLock { $0.used -= 1 } }
          returned.unlock()
          throw StoreError.detached(store: store)
        }
        if let connection {
          // What was idle may have been closed by the server.
          let isFresh = mayBeLost && now.timeIntervalSince(connection.idleSince) < Self.freshness
          if isFresh || connection.isAlive {
            returned.unlock()
            return connection
          }
          state.withLock { $0.used -= 1 }
          continue
        }
        if mayConnect {
          returned.unlock()
          do { return try connect() } catch {
            leave()
            throw error
          }
        }
        if !returned.wait(until: deadline) {
          returned.unlock()
          throw StoreError.storeFailed(
            store: store,
            reason: (options.poolSize == 1 ? "the only connection was" : "all \(options.poolSize) connections were")
              + " in use for \(Int(options.timeout)) s")
        }
      }
    }

    /// Makes a connection that belongs to nobody.
    func connect() throws -> PostgreSQLConnection {
      let number = lastConnection.withLock { last in
        last += 1
        return last
      }
      return try PostgreSQLConnection(options, session: "\(id)\(number)")
    }

    private func give(_ connection: PostgreSQLConnection) {
      // Who takes it looks whether it is still there.
      let isUsable = connection.rollBack() && !connection.isBroken
      connection.idleSince = Date()
      leave(isUsable ? connection : nil)
    }

    /// - Parameter connection: the one to keep. What is beyond the limit is closed, except for one as long as all other connections are in use: those
    ///   who have them may read again.
    private func leave(_ connection: PostgreSQLConnection? = nil) {
      returned.lock()
      let gone = state.withLock { state in
        state.used -= 1
        if let connection, !state.isClosed { state.idle.append(connection) }
        let gone = state.idle.prefix(max(0, state.idle.count - max(1, options.poolSize - state.used)))
        state.idle.removeFirst(gone.count)
        return gone
      }
      returned.signal()
      returned.unlock()
      withExtendedLifetime(gone) {}
    }

    /// Closes connections that nobody has used for a while.
    func closeIdle() {
      let oldest = Date(timeIntervalSinceNow: -options.idleTime)
      let old = state.withLock { state in
        let old = state.idle.filter { $0.idleSince < oldest }
        state.idle.removeAll { $0.idleSince < oldest }
        return old
      }
      withExtendedLifetime(old) {}
    }

    /// Closes all connections, those in use as soon as they are given back.
    func close() {
      let idle = state.withLock { state in
        state.isClosed = true
        defer { state.idle = [] }
        return state.idle
      }
      withExtendedLifetime(idle) {}
      returned.lock()
      returned.broadcast()
      returned.unlock()
    }
  }
#endif
