#if PostgreSQL
  import ConcordModel

  /// The indexes of words that a session uses.
  struct SearchUse: Sendable {
    /// The indexes that searches read.
    var read: [EntityDescription: PostgreSQLSearchIndex] = [:]
    /// The indexes that writes keep up to date.
    var folded: [EntityDescription: PostgreSQLSearchIndex] = [:]
    /// The tables of which this program folds the words, and in which form, as the triggers read them; `nil` if there are none.
    var claim: String?

    /// The statement that tells the triggers, until the end of the transaction.
    var claiming: PostgreSQLConnection.Command? {
      guard let claim else { return nil }
      var parameters = PostgreSQLParameters()
      parameters.append(claim)
      return .init(sql: "SELECT set_config('concord.folds', $1, true)", parameters: parameters)
    }
  }

  /// The words that a write makes of a row.
  enum WrittenWords {
    /// The values of all columns are known.
    case values([StoredValue])
    /// The texts have to be read.
    case unknown
    case unchanged
    /// The row is gone, and with it its words.
    case none
  }
#endif
