#if Server
  import Concord

  /// The bytes of answers that clients have not read yet, by user.
  final class UnreadBytes: Sendable {
    private let counts = Locked<[String: Int]>([:])

    func count(of user: String) -> Int { counts.withLock { $0[user] ?? 0 } }

    /// Bytes that are counted until they are released.
    final class Count: Sendable {
      private let bytes: Int
      private let user: String
      private let all: UnreadBytes

      fileprivate init(_ bytes: Int, _ user: String, _ all: UnreadBytes) {
        (self.bytes, self.user, self.all) = (bytes, user, all)
      }

      deinit { all.remove(bytes, user) }
    }

    func add(_ bytes: Int, of user: String) -> Count {
      counts.withLock { $0[user, default: 0] += bytes }
      return Count(bytes, user, self)
    }

    private func remove(_ bytes: Int, _ user: String) {
      counts.withLock { counts in
        counts[user, default: bytes] -= bytes
        if counts[user] == 0 { counts[user] = nil }
      }
    }
  }
#endif
