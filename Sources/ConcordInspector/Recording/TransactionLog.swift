#if Inspector
  import Concord

  /// The last transactions, in the order of their commits.
  struct TransactionLog {
    /// The number of transactions that are kept.
    static var most: Int { 1_000 }
    /// The number of changes that are kept in all; the last transaction is kept however many it has.
    static var mostChanges: Int { 50_000 }

    private(set) var transactions: [LoggedTransaction] = []
    private(set) var lastNumber = 0
    private var changeCount = 0

    mutating func append(_ make: (_ number: Int) -> LoggedTransaction) {
      lastNumber += 1
      let transaction = make(lastNumber)
      transactions.append(transaction)
      changeCount += transaction.changes.count
      var gone = 0
      while transactions.count - gone > Self.most || changeCount > Self.mostChanges, gone < transactions.count - 1 {
        changeCount -= transactions[gone].changes.count
        gone += 1
      }
      if gone > 0 { transactions.removeFirst(gone) }
    }

    /// The transaction with a number, if it is kept.
    func transaction(_ number: Int) -> LoggedTransaction? {
      guard let first = transactions.first?.number, number >= first, number <= lastNumber else { return nil }
      return transactions[number - first]
    }

    /// The earliest state that can be shown: the number of the transaction after which it was.
    var earliest: Int {
      guard let first = transactions.first else { return lastNumber }
      return transactions.last { $0.isAfterGap }?.number ?? (first.number - 1)
    }

    /// Returns what was different after a transaction.
    func changes(since number: Int) -> [InspectedKey: ChangeSince] {
      var found: [InspectedKey: ChangeSince] = [:]
      for transaction in transactions where transaction.number > number {
        for change in transaction.changes {
          let old = if let earlier = found[change.key] { earlier.old } else { change.old }
          found[change.key] = ChangeSince(type: change.type, old: old, isStored: change.new != nil)
        }
      }
      return found
    }
  }

  /// The changes of an entity by all transactions after one.
  struct ChangeSince {
    let type: any (Identifiable & Sendable).Type
    /// The value before; `nil` if the entity was not stored.
    let old: (any Identifiable & Sendable)?
    /// Whether the entity is stored by now.
    let isStored: Bool
    /// The number of entities that undoing the change adds.
    var backwards: Int { (old == nil ? 0 : 1) - (isStored ? 1 : 0) }
  }
#endif
