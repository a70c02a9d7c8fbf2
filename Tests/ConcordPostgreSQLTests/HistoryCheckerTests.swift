#if PostgreSQL
  import ConcordTestShared
  import Testing

  @Suite("The checker of histories")
  struct HistoryCheckerTests {
    private func anomalies(_ lines: String..., last: [Int: [Int]]? = nil) -> [HistoryChecker.Anomaly] {
      HistoryChecker.anomalies(in: History(lines.compactMap { History.Transaction($0) }), last: last)
    }

    @Test("It finds each anomaly that is planted")
    func planted() {
      // Both have appended to both lists, in different orders.
      #expect(
        anomalies("committed a:1:1 a:2:1", "committed a:1:2 a:2:2", "committed r:1:1,2", "committed r:2:2,1") == [
          .g0([0, 1])
        ])
      #expect(anomalies("aborted a:1:1", "committed r:1:1") == [.g1a(list: 1, value: 1)])
      #expect(
        anomalies("committed a:1:1 a:1:2", "committed r:1:1", "committed r:1:1,2").first == .g1b(list: 1, value: 1))
      // Each has read what the other has appended.
      #expect(anomalies("committed a:1:1 r:2:1", "committed a:2:1 r:1:1") == [.g1c([0, 1])])
      // Write skew: each has missed the other.
      #expect(
        anomalies("committed r:2: a:1:1", "committed r:1: a:2:1", "committed r:1:1 r:2:1") == [.g2([0, 1])])
      // A lost update.
      #expect(
        anomalies("committed r:1: a:1:1", "committed r:1: a:1:2", "committed r:1:1,2") == [.g2([0, 1])])
      // Two readers that see two appends in different orders.
      #expect(
        anomalies("committed a:1:1", "committed a:2:1", "committed r:1:1 r:2:", "committed r:1: r:2:1").contains {
          if case .g2 = $0 { true } else { false }
        })
      // The read-only anomaly: a reading after the second and before the first, which the second has missed.
      #expect(
        anomalies("committed r:1: r:2: a:1:1", "committed r:2: a:2:2", "seen r:1: r:2:2", "committed r:1:1 r:2:2") == []
      )
      #expect(
        anomalies("committed r:1: r:2: a:1:1", "committed r:2: a:2:2", "committed r:1: r:2:2", "committed r:1:1 r:2:2")
          == [.g2([0, 1, 2])])
      // A reading that sees a transaction, but only a part of it, or not the one before it.
      #expect(anomalies("committed a:1:1 a:2:1", "seen r:1:1 r:2:", "committed r:2:1") == [.gSingle([1, 0])])
      #expect(
        anomalies("committed a:1:1", "committed r:1:1 a:2:1", "seen r:1: r:2:1") == [.gSingle([2, 0, 1])])
      #expect(anomalies("aborted a:1:1", "seen r:1:1") == [.g1a(list: 1, value: 1)])
      #expect(anomalies("committed a:1:1", "committed a:1:2", last: [1: [1]]) == [.lost(list: 1, value: 2)])
      #expect(anomalies("committed a:1:1", last: [1: [1, 1]]) == [.doubled(list: 1, value: 1)])
      #expect(anomalies("committed r:1:7") == [.unknown(list: 1, value: 7)])
      #expect(
        anomalies("committed a:1:1", "committed a:1:2", "committed r:1:1,2", "committed r:1:2").contains(
          .divergingReads(list: 1)))
      #expect(anomalies("committed a:1:1 r:1:").contains(.internalRead(list: 1)))
    }

    @Test("It finds nothing where transactions have run one after the other, and one planted among them")
    func serial() {
      var random = SystemRandomNumberGenerator()
      for _ in 0..<50 {
        var lists: [Int: [Int]] = [:]
        var transactions: [History.Transaction] = []
        var value = 0
        for _ in 0..<60 {
          var after = lists
          var operations: [History.Operation] = []
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            let list = Int.random(in: 0..<4, using: &random)
            if Bool.random(using: &random) {
              operations.append(.read(list: list, values: after[list] ?? []))
            } else {
              value += 1
              after[list, default: []].append(value)
              operations.append(.append(list: list, value: value))
            }
          }
          let isCommitted = Int.random(in: 0..<5, using: &random) > 0
          if isCommitted { lists = after }
          transactions.append(History.Transaction(operations, isCommitted ? .committed : .aborted))
        }
        let lines = transactions.map(\.line)
        var history = History(lines.compactMap { History.Transaction($0) }.shuffled())
        #expect(HistoryChecker.anomalies(in: history, last: lists) == [])
        // Two that have missed each other.
        for (read, written) in [(10, 11), (11, 10)] {
          value += 1
          history.transactions.append(
            History.Transaction([.read(list: read, values: []), .append(list: written, value: value)]))
          lists[written] = [value]
        }
        let found = HistoryChecker.anomalies(in: history, last: lists)
        #expect(found == [.g2([60, 61])])
      }
    }
  }
#endif
