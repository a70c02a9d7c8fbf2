import ConcordModel

/// Values that some columns of a row must have.
struct Equality: Hashable {
  private(set) var columns: [StoredColumn]
  private(set) var values: [StoredValue]

  /// The values of a row, in the form in which the same are equal.
  static func values(of row: StoredRow, _ key: StoredValue, _ columns: [StoredColumn]) -> [StoredValue] {
    columns.map { column in
      switch column {
      case .key: canonical(key)
      case .position(let position): canonical(row.values[position])
      }
    }
  }

  /// To SQL, 1 and 1.0 are the same.
  private static func canonical(_ value: StoredValue) -> StoredValue {
    if case .real(let number) = value, let whole = Int64(exactly: number) { .integer(whole) } else { value }
  }

  fileprivate init(_ column: StoredColumn, _ value: StoredValue) {
    (columns, values) = ([column], [Self.canonical(value)])
  }

  /// Both; `nil` if they contradict each other.
  fileprivate func and(_ other: Equality) -> Equality? {
    var both = self
    for (column, value) in zip(other.columns, other.values) {
      let position = both.columns.firstIndex { column.rank <= $0.rank } ?? both.columns.count
      if position < both.columns.count, both.columns[position] == column {
        guard both.values[position] == value else { return nil }
      } else {
        both.columns.insert(column, at: position)
        both.values.insert(value, at: position)
      }
    }
    return both
  }
}

extension StoredColumn {
  /// The place in the order of columns.
  fileprivate var rank: Int {
    switch self {
    case .key: -1
    case .position(let position): position
    }
  }
}

extension StoredCondition {
  /// Each row that fulfils the condition has one of these sets of values; `nil` if there is no such list, or it is a long one.
  var equalities: [Equality]? {
    let most = 64
    switch self {
    case .isEqual(let column, let value): return [Equality(column, value)]
    case .isIn(let column, let values):
      return values.count > most ? nil : Array(Set(values.map { Equality(column, $0) }))
    case .all(let parts):
      var found: [Equality]?
      for part in parts {
        guard let other = part.equalities else { continue }
        guard let known = found else {
          found = other
          continue
        }
        guard known.count * other.count <= most else { continue }
        found = Array(Set(known.flatMap { a in other.compactMap { a.and($0) } }))
      }
      return found
    case .any(let parts):
      var found: Set<Equality> = []
      for part in parts {
        guard let other = part.equalities, found.count + other.count <= most else { return nil }
        found.formUnion(other)
      }
      return Array(found)
    default: return nil
    }
  }
}
