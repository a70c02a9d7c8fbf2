import Concord
import ConcordModel

/// The row of an object that is merged.
struct IncomingRow {
  let key: StoredValue
  let row: StoredRow
  /// The first of the uniqueness attributes, by which the stored row is found.
  let first: StoredValue
  let others: [StoredValue]
  /// The names of the properties that the object leaves out, since it is brief: they stay as they are stored.
  let omitted: [String]

  init(_ key: StoredValue, _ row: StoredRow, _ uniqueness: [StoredColumn], omitted: [String] = []) {
    self.key = key
    self.omitted = omitted
    self.row = row
    func value(_ column: StoredColumn) -> StoredValue {
      switch column {
      case .key: key
      case .position(let position): row.values[position]
      }
    }
    first = uniqueness.first.map(value) ?? key
    // Fast path: usually there is only one, which needs no array.
    others = uniqueness.count > 1 ? uniqueness.dropFirst().map(value) : []
  }

  static func precedes(_ a: IncomingRow, _ b: IncomingRow) -> Bool {
    if StoredValue.precedes(a.first, b.first) { return true }
    return a.others.isEmpty || StoredValue.precedes(b.first, a.first) ? false : a.others.precedes(b.others)
  }

  /// Compares the row with a stored one: less than 0 if it comes before that, 0 if at the same position, otherwise more.
  func order(_ key: StoredValue, _ source: RowSource, _ uniqueness: [StoredColumn]) -> Int {
    for (index, column) in uniqueness.enumerated() {
      let mine = index == 0 ? first : others[index - 1]
      let stored: StoredValue
      switch column {
      case .key: stored = key
      case .position(let position): stored = source.value(at: position)
      }
      if StoredValue.precedes(mine, stored) { return -1 }
      if StoredValue.precedes(stored, mine) { return 1 }
    }
    return 0
  }
}

extension [IncomingRow] {
  /// Returns the rows in the order of the uniqueness attributes, each once, with the last of several.
  func sortedAndUnique() -> [IncomingRow] {
    // A stable sort. Fast path: usually the rows are sorted already.
    let isSorted = zip(self, dropFirst()).allSatisfy { !IncomingRow.precedes($1, $0) }
    let sorted = isSorted ? self : self.sorted(by: IncomingRow.precedes)
    var result: [IncomingRow] = []
    result.reserveCapacity(sorted.count)
    for row in sorted {
      if let last = result.last, !IncomingRow.precedes(last, row) { result.removeLast() }
      result.append(row)
    }
    return result
  }

  /// Returns the rows with each id once, with the last of several.
  func uniqueByKey() -> [IncomingRow] {
    var last: [StoredValue: Int] = [:]
    for (index, row) in enumerated() { last[row.key] = index }
    return last.count == count ? self : enumerated().filter { last[$1.key] == $0 }.map(\.element)
  }
}
