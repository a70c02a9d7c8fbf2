#if PostgreSQL
  import ConcordModel

  /// The collections of all rows of the result that was read last, which are read together.
  struct FetchedCollections {
    private var result: PostgreSQLResult?
    private var elements: [Int: [StoredValue: StoredElements]] = [:]

    /// The elements of a collection by its owners, if they were read with this result.
    func elements(_ index: Int, with result: PostgreSQLResult) -> [StoredValue: StoredElements]? {
      self.result === result ? elements[index] : nil
    }

    mutating func set(_ elements: [StoredValue: StoredElements], _ index: Int, with result: PostgreSQLResult) {
      if self.result !== result { self = FetchedCollections() }
      self.result = result
      self.elements[index] = elements
    }
  }
#endif
