/// A set of columns of a row, among the first 64.
public struct ColumnSet: Sendable, Hashable {
  var bits: UInt64 = 0

  /// The greatest number of columns that an entity may have.
  static let most = 64

  package init() {}

  mutating func insert(_ position: Int) { bits |= 1 << UInt64(position) }

  /// Whether the set contains no column.
  public var isEmpty: Bool { bits == 0 }
  /// Whether the set contains the column at a position.
  public func contains(_ position: Int) -> Bool { position < Self.most && bits & 1 << UInt64(position) != 0 }
  /// The positions of the columns, ascending.
  public var positions: [Int] { (0..<Self.most).filter(contains) }
}
