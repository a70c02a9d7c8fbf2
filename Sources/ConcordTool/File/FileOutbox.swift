#if Tool
  import ConcordPersistence
  import GRDB

  /// The forwarded actions of a file, in its table `concord_outbox`.
  struct FileOutbox {
    /// The number of pending actions; finished ones are not counted.
    let pending: Int
    let refused: Int
    /// Whether the table has an unknown form.
    let isStrange: Bool

    private static let columns: Set<String> = ["number", "key", "action", "entity", "id", "body", "state"]

    /// Reads the counts; `nil` if nothing was ever forwarded.
    init?(_ db: Database) throws {
      let rows = try Row.fetchAll(db, sql: "PRAGMA table_info(concord_outbox)")
      let present = Set(rows.compactMap { $0["name"] as String? })
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

    /// A description for people; `nil` if there are no actions.
    var description: String? {
      let parts = [
        pending > 0 ? "\(grouped(pending)) \(pending == 1 ? "action is" : "actions are") to be sent" : nil,
        refused > 0 ? "\(grouped(refused)) \(refused == 1 ? "was" : "were") refused" : nil,
      ].compactMap { $0 }
      return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
  }
#endif
