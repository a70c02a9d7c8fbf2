/// A way in which a store finds the rows of one table.
public struct TableAccess: Sendable, Hashable {
  /// A way to find rows.
  public enum Method: Sendable, Hashable {
    /// A search: only the rows that a condition looks up in an index are read.
    case search(index: String)
    /// A walk: all rows are read in the order of an index, until enough are found.
    case walk(index: String)
    /// A scan: all rows are read.
    case scan
  }

  /// The name of the table.
  public let table: String
  /// The way to find its rows.
  public let method: Method

  /// Creates a way to find the rows of a table.
  public init(table: String, _ method: Method) { (self.table, self.method) = (table, method) }
}

extension TableAccess: CustomStringConvertible {
  public var description: String {
    switch method {
    case .search(let index): "\(table): a search in the index \(index)"
    case .walk(let index): "\(table): all rows, in the order of the index \(index)"
    case .scan: "\(table): a scan of all rows"
    }
  }
}

/// A store's plan of a query: how it finds the rows of each table, and whether it sorts them.
public struct QueryPlan: Sendable, Hashable {
  /// The tables that are read, and how.
  public var accesses: [TableAccess]
  /// Whether the rows that are found are sorted, since no index has their order.
  public var sorts: Bool

  /// Creates a plan.
  public init(_ accesses: [TableAccess] = [], sorts: Bool = false) { (self.accesses, self.sorts) = (accesses, sorts) }
}

extension QueryPlan {
  /// Whether all rows of a table are read.
  ///
  /// - Parameter isLimited: whether the first rows in the order of an index are enough.
  func scans(isLimited: Bool) -> Bool {
    accesses.contains {
      switch $0.method {
      case .scan: true
      case .walk: !isLimited
      case .search: false
      }
    }
  }

  /// The plan of a statement that needs all rows, whatever their order.
  package var ofAllRows: QueryPlan {
    QueryPlan(
      accesses.map { access in
        if case .walk = access.method { TableAccess(table: access.table, .scan) } else { access }
      }, sorts: sorts)
  }

  /// Adds the plan of a further statement.
  package mutating func add(_ other: QueryPlan) {
    accesses += other.accesses.filter { !accesses.contains($0) }
    sorts = sorts || other.sorts
  }
}

extension QueryPlan: CustomStringConvertible {
  public var description: String { lines.joined(separator: "\n") }

  package var lines: [String] { accesses.map(\.description) + (sorts ? ["what is found is sorted"] : []) }
}
