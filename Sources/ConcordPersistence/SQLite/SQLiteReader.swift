#if Persistence
  import Concord
  import GRDB

  /// A connection that reads for one thread at a time, and costs less to use than one of GRDB's pool, which has to wait for a free one.
  /// The pool serves the threads that read meanwhile.
  final class SQLiteReader: Sendable {
    private let path: String
    private let configuration: Configuration
    private let state = Locked(State())

    private struct State {
      /// `nil` until the first reading.
      var connection: DatabaseQueue?
      /// The thread that reads.
      var thread: UInt?
      var isClosed = false
    }

    /// - Parameter configuration: that of the pool.
    init(path: String, _ configuration: Configuration) {
      self.path = path
      var configuration = configuration
      configuration.readonly = true
      self.configuration = configuration
    }

    /// Runs a closure with the connection, outside of a transaction.
    ///
    /// - Returns: `nil` if the connection is in use.
    func read<R>(_ body: (Database) throws -> R) throws -> R? {
      let (isFree, known): (Bool, DatabaseQueue?) = state.withLock { state in
        guard state.thread == nil, !state.isClosed else { return (false, nil) }
        state.thread = currentThread()
        return (true, state.connection)
      }
      guard isFree else { return nil }
      defer { state.withLock { $0.thread = nil } }
      return try (known ?? open()).unsafeRead(body)
    }

    private func open() throws -> DatabaseQueue {
      let connection = try DatabaseQueue(path: path, configuration: configuration)
      state.withLock { $0.connection = connection }
      return connection
    }

    /// Runs a closure with the connection, if this thread reads with it already.
    func readAgain<R>(_ body: (Database) throws -> R) throws -> R? {
      let connection = state.withLock { $0.thread == currentThread() ? $0.connection : nil }
      return try connection?.unsafeReentrantRead(body)
    }

    /// Closes the connection, which is not in use.
    func close() throws {
      let connection = state.withLock { state in
        state.isClosed = true
        return state.connection
      }
      try connection?.close()
    }
  }
#endif
