#if PostgreSQL
  /// The transaction of a reading, which begins with its first statement.
  ///
  /// A statement sees one committed state by itself. So a reading that has announced a single one needs no transaction, which would cost as
  /// much as a lookup does.
  final class ReadingTransaction {
    private let connection: PostgreSQLConnection
    private let mayBeLeftOut: Bool
    /// Whether the transaction is the one in which the watch has asked what is new.
    let isTold: Bool
    private var isLast = false
    private var progress = Progress.none
    /// Whether more was read than was announced, so that all has to be read again within a transaction.
    private(set) var mustRepeat = false
    /// The loss of the connection, or of an index of words, or a conflict, such as a deadlock with who changes tables.
    private(set) var loss: PostgreSQLFailure?
    /// Whether a statement has failed, after which the transaction runs no other.
    private(set) var hasFailed = false
    private var mayReadAgain = false
    let count: BatchCount
    private let firstBatch: Int

    /// A number of batches that were read, which the readings within each other share: what the closure of one has read in another
    /// store it has read, too.
    final class BatchCount {
      fileprivate(set) var value = 0
    }

    /// Whether the closure of the reading has read something.
    var hasRead: Bool { count.value > firstBatch }

    private enum Progress { case none, begun, ended }

    /// The error of a statement that was not announced.
    private struct ReadsMore: Error {}

    /// - Parameters:
    ///   - mayBeLeftOut: whether it may be read again if more is read than was announced.
    ///   - count: the number of batches that the thread has read so far.
    init(_ connection: PostgreSQLConnection, mayBeLeftOut: Bool, _ count: BatchCount = BatchCount()) {
      (self.connection, self.mayBeLeftOut, isTold) = (connection, mayBeLeftOut, false)
      (self.count, firstBatch) = (count, count.value)
    }

    /// The transaction in which the watch has asked what is new. Somebody else ends it.
    ///
    /// - Parameter isOpen: whether it has not ended yet.
    init(told connection: PostgreSQLConnection, isOpen: Bool, _ count: BatchCount) {
      (self.connection, mayBeLeftOut, isTold) = (connection, false, true)
      (self.count, firstBatch) = (count, count.value)
      progress = isOpen ? .begun : .ended
    }

    /// Notes that nothing is read after the next batch.
    func willReadOnce() { isLast = mayBeLeftOut }

    /// Notes that the closure of the reading may be run again, also after it has read something.
    func noteMayReadAgain() { mayReadAgain = true }

    /// Whether the transaction was lost, and the closure may be run again.
    var mayBeDoneAgain: Bool { loss != nil && (mayReadAgain || !hasRead) }

    /// Notes that there are further batches all the same.
    func willReadMore() { isLast = false }

    func run(_ commands: [PostgreSQLConnection.Command]) throws -> [PostgreSQLResult] {
      if progress == .ended {
        mustRepeat = true
        throw ReadsMore()
      }
      let isAlone = isLast && progress == .none && commands.count == 1
      if progress == .none, !isAlone { connection.later(.beginReading) }
      progress = isLast ? .ended : .begun
      do {
        let results = try connection.run(isAlone || !isLast ? commands : commands + [.end])
        count.value += 1
        return isAlone || !isLast ? results : results.dropLast()
      } catch let failure as PostgreSQLFailure {
        hasFailed = true
        if failure.isConnectionLost || failure.concernsWords || failure.isConflict { loss = failure }
        throw failure
      }
    }

    /// Ends it. The answer is read later; what was read stands without it.
    func finish() { if progress == .begun, !isTold { try? connection.finish(.end) } }
  }
#endif
