/// What clients have seen of lists that they append to and read: each value is appended once.
package struct History {
  package enum Operation: Equatable {
    case append(list: Int, value: Int)
    case read(list: Int, values: [Int])
  }

  package enum Outcome: String {
    case committed, aborted
    /// A reading of one committed state, which takes no part in the order of the transactions.
    case seen
  }

  package struct Transaction {
    package let operations: [Operation]
    package let outcome: Outcome

    package init(_ operations: [Operation], _ outcome: Outcome = .committed) {
      (self.operations, self.outcome) = (operations, outcome)
    }

    /// A transaction in a line: `committed a:3:17 r:4:1,2,3`.
    package init?(_ line: String) {
      let words = line.split(separator: " ")
      guard let outcome = words.first.flatMap({ Outcome(rawValue: String($0)) }) else { return nil }
      var operations: [Operation] = []
      for word in words.dropFirst() {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let list = Int(parts[1]) else { return nil }
        let values = parts[2].split(separator: ",").compactMap { Int($0) }
        if parts[0] == "r" {
          operations.append(.read(list: list, values: values))
        } else {
          guard let value = values.first else { return nil }
          operations.append(.append(list: list, value: value))
        }
      }
      self.init(operations, outcome)
    }

    package var line: String {
      ([outcome.rawValue]
        + operations.map { operation in
          switch operation {
          case .append(let list, let value): "a:\(list):\(value)"
          case .read(let list, let values): "r:\(list):\(values.map(String.init).joined(separator: ","))"
          }
        }).joined(separator: " ")
    }
  }

  package var transactions: [Transaction]

  package init(_ transactions: [Transaction]) { self.transactions = transactions }
}
