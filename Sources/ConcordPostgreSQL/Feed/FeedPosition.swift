#if PostgreSQL
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// The position of a reader in the commits of a database: a snapshot, which tells exactly which transactions it has seen.
  ///
  /// Neither a number nor a time does, since transactions commit in another order than they get their ids in.
  struct FeedPosition: Equatable {
    /// All transactions before this one are seen.
    let xmin: UInt64
    /// No transaction from this one on is seen.
    let xmax: UInt64
    /// The transactions before `xmax` that are not seen, as the server writes them, separated by commas.
    let inProgress: String

    /// - Parameter snapshot: what the server writes: `xmin:xmax:those in progress`.
    init?(_ snapshot: String) {
      let parts = snapshot.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count >= 2, let xmin = UInt64(parts[0]), let xmax = UInt64(parts[1]) else { return nil }
      (self.xmin, self.xmax) = (xmin, xmax)
      inProgress = parts.count > 2 ? String(parts[2]) : ""
    }
  }

  /// A transaction: its id in the server, and the connection, since the server may give the ids of transactions again that it has lost.
  struct TransactionID: Hashable {
    let number: UInt64
    let session: String

    /// An id that stands for any transaction.
    static let any = TransactionID(number: 0, session: "")
  }

  /// The changes that were committed between two positions.
  struct FeedChanges {
    let position: FeedPosition
    let epoch: String
    /// In the order of their ids.
    let transactions: [Transaction]
    /// The transactions that were not asked for.
    let excepted: Set<TransactionID>
    /// The number of keys by the name of the entity, those that were not asked for, too.
    let keyCounts: [String: Int]
    /// Whether some of the changes may have been trimmed.
    let isTrimmed: Bool
    /// Whether the state that was looked at is before the position.
    let isBehind: Bool
    /// Whether the feed cannot tell what was trimmed, since a copy has brought a greater id: see ``ForeignChanges``.
    let hasForeign: Bool

    /// A committed transaction.
    struct Transaction {
      let id: TransactionID
      var keys: [EntityKey] = []
      /// Whether the keys are not all that has changed: a table was truncated, or the outbox written.
      var isMore = false

      var commit: StoreCommit { StoreCommit(keys: isMore ? nil : keys, origin: nil) }
    }

    /// The statement that finds what is visible to its own snapshot, and was not at a position.
    ///
    /// It looks at these transactions only, so that it costs the same beside one that stays open.
    static func command(since position: FeedPosition) -> PostgreSQLConnection.Command {
      .init(sql: changes.sql(of: position), parameters: parameters(since: position))
    }

    private static let changes = ChangesStatement { select in
      """
      SELECT pg_current_snapshot()::text, \(epoch), s.trimmed, c.xid, c.entity, c.keys, c.session
      FROM concord_state s LEFT JOIN (\(select("xid, entity, keys, session", ""))) c ON true
      """
    }

    /// The epoch of the feed, and its table, which is another one where the tables were replaced by a copy of them.
    static let epoch = "s.epoch::text || ' ' || s.tableoid::text"

    /// The parameters of a ``ChangesStatement``.
    static func parameters(since position: FeedPosition) -> PostgreSQLParameters {
      var parameters = PostgreSQLParameters()
      parameters.append("\(position.xmax)")
      parameters.append("{\(position.inProgress)}")
      return parameters
    }

    /// - Parameter known: transactions whose changes are not wanted.
    init(
      _ result: PostgreSQLResult, since old: FeedPosition, _ tables: [String: PostgreSQLTable], store: String,
      except known: Set<TransactionID> = []
    ) throws {
      guard result.count > 0, let position = FeedPosition(result.text(0, 0)) else {
        throw StoreError.damagedStore(store: store, reason: "concord_state has no row")
      }
      self.position = position
      epoch = result.text(0, 1)
      let trimmed = result.bits(0, 2)
      isTrimmed = trimmed >= old.xmin && trimmed < position.xmax
      hasForeign = trimmed >= position.xmax
      isBehind = position.xmax < old.xmax
      var transactions: [Transaction] = []
      var excepted: Set<TransactionID> = []
      var keyCounts: [String: Int] = [:]
      let rows = (0..<result.count).filter { !result.isNull($0, 3) }
      for row in rows.sorted(by: { (result.bits($0, 3), $0) < (result.bits($1, 3), $1) }) {
        let id = TransactionID(number: result.bits(row, 3), session: result.optionalText(row, 6) ?? "")
        let name = result.text(row, 4)
        if !result.isNull(row, 5) { keyCounts[name, default: 0] += result.texts(row, 5).count }
        if known.contains(id) {
          excepted.insert(id)
          continue
        }
        if transactions.last?.id != id { transactions.append(Transaction(id: id)) }
        let index = transactions.count - 1
        if result.isNull(row, 5) || name.isEmpty {
          transactions[index].isMore = true
        } else if let table = tables[name] {
          for text in result.texts(row, 5) {
            transactions[index].keys.append(EntityKey(table.entity, table.keyForm.key(text)))
          }
        }
      }
      (self.transactions, self.excepted, self.keyCounts) = (transactions, excepted, keyCounts)
    }
  }

  extension PostgreSQLResult {
    /// The elements of an array of texts, which has no `NULL`.
    func texts(_ row: Int, _ column: Int) -> [String] { optionalTexts(row, column).map { $0 ?? "" } }
  }

  extension ColumnForm {
    /// A key as the feed writes it.
    func key(_ text: String) -> StoredValue {
      switch self {
      case .integer: return Int64(text).map { .integer($0) } ?? .text(text)
      case .boolean: return .integer(text == "true" ? 1 : 0)
      case .unsigned: return UInt64(text)?.storedValue ?? .text(text)
      case .real, .float:
        guard let bits = UInt64(text, radix: 16) else { return .text(text) }
        return Self.number(bits, isFloat: self == .float)
      case .uuid: return .text(text.uppercased())
      case .bytes: return AnyValue.value("x'\(text.dropFirst(2))'")
      case .text, .any:
        var text = text
        let decoded = text.withUTF8 { PostgreSQLText.decode(UnsafeRawBufferPointer($0)) }
        return self == .any ? AnyValue.value(decoded) : .text(decoded)
      }
    }
  }

  extension ChangesStatement {
    func sql(of position: FeedPosition) -> String { sql(hasEarlier: !position.inProgress.isEmpty) }
  }
#endif
