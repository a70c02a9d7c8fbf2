#if Persistence
  import Concord
  import Dispatch

  /// A count of the calls that use a file. Closing waits for them, and refuses new ones: GRDB crashes if a connection
  /// is closed while a call begins.
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

    /// Refuses new calls, and waits for those in progress.
    ///
    /// - Returns: `false` if the file was closed before.
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
