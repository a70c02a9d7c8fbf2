#if Persistence
  import Concord
  import Dispatch

  /// Who uses a file. Its end waits for those, and lets nobody begin: to GRDB, a connection that is closed while somebody comes to
  /// it is a crash.
  final class SQLiteUses: Sendable {
    private let isEnded = Locked(false)
    private let group = DispatchGroup()

    /// Begins a use, which ``leave()`` ends; `false` if there are no more.
    func enter() -> Bool {
      isEnded.withLock { isEnded in
        if isEnded { return false }
        group.enter()
        return true
      }
    }

    func leave() { group.leave() }

    /// Lets nobody begin any longer, and waits for those who have begun.
    ///
    /// - Returns: `false` if that was so before.
    func end() -> Bool {
      let isFirst = isEnded.withLock { isEnded in
        defer { isEnded = true }
        return !isEnded
      }
      if isFirst { group.wait() }
      return isFirst
    }
  }
#endif
