/// Finds what cannot have happened if transactions had run one after the other, as Adya's thesis names it: writes in a cycle (G0), reads of what was
/// not committed (G1a) or not final (G1b), cycles of writes and reads (G1c), and those with a transaction that missed a write (G2).
///
/// A reading of one committed state may stand between two transactions that ran at the same time, in another order than theirs (the read-only
/// anomaly of Fekete, O'Neil and O'Neil). It must not miss what comes before something that it saw (G-single).
///
/// The order of the writes to a list is that of its values in the longest read. From it follows which transaction comes before which:
/// who appended the value before, who appended what was read, and who read a list without the value that was appended next.
package struct HistoryChecker {
  package enum Anomaly: Equatable, CustomStringConvertible {
    /// Two reads of a list of which neither is the beginning of the other.
    case divergingReads(list: Int)
    /// A committed value that is not in the last read of its list.
    case lost(list: Int, value: Int)
    /// A value that stands in a list twice, or that nobody has appended.
    case doubled(list: Int, value: Int)
    case unknown(list: Int, value: Int)
    /// A transaction that does not see what it has done itself.
    case internalRead(list: Int)
    case g0([Int])
    case g1a(list: Int, value: Int)
    case g1b(list: Int, value: Int)
    case g1c([Int])
    case g2([Int])
    /// A reading that saw a transaction, but not an earlier one.
    case gSingle([Int])

    package var description: String {
      switch self {
      case .divergingReads(let list): "reads of list \(list) differ"
      case .lost(let list, let value): "\(value) is lost from list \(list)"
      case .doubled(let list, let value): "\(value) is in list \(list) twice"
      case .unknown(let list, let value): "nobody has appended \(value) to list \(list)"
      case .internalRead(let list): "a transaction does not see its own appends to list \(list)"
      case .g0(let cycle): "G0: \(cycle)"
      case .g1a(let list, let value): "G1a: \(value) in list \(list) was not committed"
      case .g1b(let list, let value): "G1b: \(value) in list \(list) was not the last one"
      case .g1c(let cycle): "G1c: \(cycle)"
      case .g2(let cycle): "G2: \(cycle)"
      case .gSingle(let cycle): "G-single: \(cycle)"
      }
    }
  }

  private let history: History
  /// Who has appended each value.
  private var writers: [Value: Int] = [:]
  private var longest: [Int: [Int]] = [:]
  private var found: [Anomaly] = []

  private struct Value: Hashable {
    let list: Int
    let value: Int
  }

  private enum Kind: Int { case write, read, missed }
  private var edges: [[(to: Int, kind: Kind)]]

  /// - Parameter last: what was read in the end.
  package static func anomalies(in history: History, last: [Int: [Int]]? = nil) -> [Anomaly] {
    var checker = HistoryChecker(history)
    return checker.check(last)
  }

  private init(_ history: History) {
    self.history = history
    edges = Array(repeating: [], count: history.transactions.count)
  }

  private mutating func check(_ last: [Int: [Int]]?) -> [Anomaly] {
    for (number, transaction) in history.transactions.enumerated() {
      for case .append(let list, let value) in transaction.operations {
        writers[Value(list: list, value: value)] = number
      }
    }
    for (list, values) in last ?? [:] { note(values, of: list) }
    for transaction in history.transactions where transaction.outcome != .aborted { checkReads(transaction) }
    if let last { checkLast(last) }
    for (list, values) in longest { checkValues(values, of: list) }
    for (number, transaction) in history.transactions.enumerated() where transaction.outcome != .aborted {
      connect(number, transaction)
    }
    for (kind, name) in [(Kind.write, Anomaly.g0), (.read, Anomaly.g1c), (.missed, Anomaly.g2)] {
      // A cycle of fewer kinds is a worse one.
      if let cycle = cycle(upTo: kind) {
        found.append(name(cycle))
        break
      }
    }
    for (number, transaction) in history.transactions.enumerated() where transaction.outcome == .seen {
      if let cycle = cycleOfReading(number) { found.append(.gSingle(cycle)) }
    }
    return found
  }

  private mutating func note(_ values: [Int], of list: Int) {
    let known = longest[list] ?? []
    if !zip(values, known).allSatisfy(==) { found.append(.divergingReads(list: list)) }
    if values.count > known.count { longest[list] = values }
  }

  private mutating func checkReads(_ transaction: History.Transaction) {
    var own: [Int: [Int]] = [:]
    var before: [Int: [Int]] = [:]
    for operation in transaction.operations {
      switch operation {
      case .append(let list, let value): own[list, default: []].append(value)
      case .read(let list, let values):
        note(values, of: list)
        let appended = own[list] ?? []
        guard values.suffix(appended.count) == appended[...] else {
          found.append(.internalRead(list: list))
          continue
        }
        let others = Array(values.dropLast(appended.count))
        if let earlier = before[list], earlier != others { found.append(.internalRead(list: list)) }
        before[list] = others
        guard let last = others.last, let writer = writers[Value(list: list, value: last)] else { continue }
        let final = history.transactions[writer].operations.reversed().lazy.compactMap { operation -> Int? in
          if case .append(list, let value) = operation { value } else { nil }
        }.first
        if final != last { found.append(.g1b(list: list, value: last)) }
      }
    }
  }

  private mutating func checkLast(_ last: [Int: [Int]]) {
    for transaction in history.transactions where transaction.outcome == .committed {
      for case .append(let list, let value) in transaction.operations where !(last[list] ?? []).contains(value) {
        found.append(.lost(list: list, value: value))
      }
    }
  }

  private mutating func checkValues(_ values: [Int], of list: Int) {
    var seen: Set<Int> = []
    for value in values {
      if !seen.insert(value).inserted { found.append(.doubled(list: list, value: value)) }
      guard let writer = writers[Value(list: list, value: value)] else {
        found.append(.unknown(list: list, value: value))
        continue
      }
      if history.transactions[writer].outcome == .aborted { found.append(.g1a(list: list, value: value)) }
    }
    for (earlier, later) in zip(values, values.dropFirst()) {
      guard let first = writers[Value(list: list, value: earlier)],
        let second = writers[Value(list: list, value: later)]
      else { continue }
      if first != second { edges[first].append((second, .write)) }
    }
  }

  private mutating func connect(_ number: Int, _ transaction: History.Transaction) {
    var hasAppended: Set<Int> = []
    for operation in transaction.operations {
      switch operation {
      case .append(let list, _): hasAppended.insert(list)
      case .read(let list, let values) where !hasAppended.contains(list):
        if let last = values.last, let writer = writers[Value(list: list, value: last)], writer != number {
          edges[writer].append((number, .read))
        }
        let known = longest[list] ?? []
        guard values.count < known.count, let writer = writers[Value(list: list, value: known[values.count])],
          writer != number
        else { continue }
        edges[number].append((writer, .missed))
      default: break
      }
    }
  }

  /// A cycle of edges of these kinds, by the numbers of its transactions: a walk in depth, without recursion.
  private func cycle(upTo kind: Kind) -> [Int]? {
    var state = [Int8](repeating: 0, count: edges.count)
    for start in edges.indices where state[start] == 0 && history.transactions[start].outcome != .seen {
      var path = [(node: start, next: 0)]
      state[start] = 1
      while let (node, next) = path.last {
        guard next < edges[node].count else {
          state[node] = 2
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let edge = edges[node][next]
        if edge.kind.rawValue > kind.rawValue || history.transactions[edge.to].outcome == .seen { continue }
        if state[edge.to] == 1 {
          return Array(path.map(\.node).drop { $0 != edge.to })
        }
        if state[edge.to] == 0 {
          state[edge.to] = 1
          path.append((edge.to, 0))
        }
      }
    }
    return nil
  }

  /// A way from a write that a reading has missed to one that it saw, by what transactions wrote and read.
  private func cycleOfReading(_ reading: Int) -> [Int]? {
    var before: [Int: Int] = [:]
    var open: [Int] = []
    for edge in edges[reading] where edge.kind == .missed && before[edge.to] == nil {
      before[edge.to] = reading
      open.append(edge.to)
    }
    while let node = open.popLast() {
      for edge in edges[node] where edge.kind != .missed {
        if edge.to == reading {
          var cycle = [node]
          while let previous = before[cycle[0]] { cycle.insert(previous, at: 0) }
          return cycle
        }
        guard before[edge.to] == nil else { continue }
        before[edge.to] = node
        open.append(edge.to)
      }
    }
    return nil
  }
}
