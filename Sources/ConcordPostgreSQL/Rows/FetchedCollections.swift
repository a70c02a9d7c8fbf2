#if PostgreSQL
  import ConcordModel

  /// The collections of all rows of the result that was read last, which are read together.
  struct FetchedCollections {
    private var result: PostgreSQLResult?
    private var rows: [Int: [StoredValue: [[StoredValue]]]] = [:]

    /// The elements of a collection by its owners, if they were read with this result.
    func rows(_ index: Int, with result: PostgreSQLResult) -> [StoredValue: [[StoredValue]]]? {
      self.result === result ? rows[index] : nil
    }

    mutating func set(_ rows: [StoredValue: [[StoredValue]]], _ index: Int, with result: PostgreSQLResult) {
      if self.result !== result { self = FetchedCollections() }
      self.result = result
      self.rows[index] = rows
    }
  }
#endif
