#if Server
  import ConcordServer

  /// The changes that a position of a feed shows, so that positions can be compared.
  struct ShownChanges: Equatable {
    private let feed: String
    /// The number after the last change that is shown.
    private let end: UInt64
    /// The numbers before ``end`` of the transactions of a database that are not shown.
    private let unseen: Set<UInt64>

    /// - Returns: `nil` if the position has another form.
    init?(_ position: StorePosition) {
      let parts = position.rawValue.split(separator: ".", omittingEmptySubsequences: false)
      guard (2...3).contains(parts.count), let last = parts.last, let end = UInt64(last) else { return nil }
      let numbers = parts.count == 3 ? parts[1].split(separator: ",") : []
      let unseen = numbers.compactMap { UInt64($0) }
      guard unseen.count == numbers.count else { return nil }
      (feed, self.end, self.unseen) = (String(parts[0]), end, Set(unseen))
    }

    /// Whether transactions are not shown that have begun before others that are.
    var hasUnseen: Bool { !unseen.isEmpty }

    /// Whether all that another position shows is shown.
    func isSuperset(of other: ShownChanges) -> Bool {
      feed == other.feed && end >= other.end && unseen.allSatisfy { $0 >= other.end || other.unseen.contains($0) }
    }
  }
#endif
