#if PostgreSQL
  import CPostgreSQL

  // Relies on: libpq's cancel object is never changed, and may be used by any thread until it is freed.

  /// A request to the server to cancel the statement that a connection runs.
  // Unchecked, because the compiler does not know that of a pointer.
  package final class PostgreSQLCancellation: @unchecked Sendable {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { PQfreeCancel(handle) }

    /// Asks for it. The statement then fails, unless it ends before.
    package func cancel() {
      var message = [CChar](repeating: 0, count: 256)
      PQcancel(handle, &message, Int32(message.count))
    }
  }
#endif
