#if Persistence
  import ConcordModel

  /// The SQL condition for texts that are not made of plain scalars (``PlainScalars``). It stands in the schema, so
  /// every program with SQLite can evaluate it: an index of these texts finds them quickly, and usually tells that
  /// there are none.
  enum SQLiteTexts {
    /// A condition on a column that is true for such texts.
    static func isNotPlain(_ name: String) -> String {
      // All ASCII is plain; a text with as many bytes as characters is ASCII. SQLite ends text at U+0000 where it looks
      // at characters.
      """
      CASE WHEN length(\(name)) = length(CAST(\(name) AS BLOB)) THEN 0 \
      WHEN instr(CAST(\(name) AS BLOB), x'00') THEN 1 \
      WHEN \(name) GLOB '\(pattern(PlainScalars.ranges.prefix(1)))' THEN \(name) GLOB '\(pattern(PlainScalars.ranges[...]))' \
      ELSE 0 END
      """
    }

    /// Returns a `GLOB` pattern for texts with a scalar outside of the ranges.
    private static func pattern(_ ranges: ArraySlice<ClosedRange<UInt32>>) -> String {
      func text(_ scalar: UInt32) -> String { Unicode.Scalar(scalar).map { String($0) } ?? "" }
      return "*[^\(ranges.map { "\(text($0.lowerBound))-\(text($0.upperBound))" }.joined())]*"
    }

    /// The name of the index.
    static func indexName(_ table: String, _ column: String) -> String { "\(table).\(column).nonplain" }
  }

  extension ColumnDescription {
    /// Whether the column holds texts by which an index may be searched.
    var isIndexedText: Bool { comparison == .text && role == .value && (isIndexed || isUnique) }
  }
#endif
