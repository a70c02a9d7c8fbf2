#if Tool
  import ConcordPersistence
  import GRDB

  /// The forwarded actions of a file, which it keeps in `concord_outbox`.
  struct FileOutbox {
    /// How many there are in each state; those that are finished are not counted.
    let pending: Int
    let refused: Int
    /// Whether the table is not as it should be.
    let isStrange: Bool

    private static let columns: Set<String> = ["number", "key", "action", "entity", "id", "body", "state"]

    /// - Returns: `nil` if nothing was ever forwarded.
    init?(_ db: Database) throws {
      let present = Set(try Row.fetchAll(db, sql: "PRAGMA table_info(concord_outbox)").compactMap { $0["name"] as String? })
      if present.isEmpty { return nil }
      isStrange = !Self.columns.isSubset(of: present)
      if isStrange {
        (pending, refused) = (0, 0)
        return
      }
      func count(_ state: String) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM concord_outbox WHERE state = ?", arguments: [state]) ?? 0
      }
      (pending, refused) = (try count("pending"), try count("refused"))
    }

    /// For people to read; `nil` if there is nothing to be said.
    var description: String? {
      let parts = [
        pending > 0 ? "\(grouped(pending)) \(pending == 1 ? "action is" : "actions are") to be sent" : nil,
        refused > 0 ? "\(grouped(refused)) \(refused == 1 ? "was" : "were") refused" : nil,
      ].compactMap { $0 }
      return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
  }
#endif
