#if PostgreSQL
  import ConcordPersistence

  /// The order by which the server sorts values as the other stores do.
  enum PostgreSQLOrder {
    /// An expression by which numbers are ordered, with -0.0 and NaN behind all other numbers: in the other stores these are bytes, which come
    /// after numbers. It stands in indexes, so it must not change.
    static func real(_ column: String) -> String {
      """
      CASE WHEN \(column) = 0 AND float8send(\(column)) <> '\\x0000000000000000'::bytea \
      THEN 'NaN'::double precision ELSE \(column) END
      """
    }

    /// The order among -0.0 and NaN, by their bits; `NULL` for all other numbers.
    static func bits(_ column: String) -> String {
      """
      CASE WHEN \(column) = 'NaN'::double precision OR \(column) = 0 AND float8send(\(column)) <> '\\x0000000000000000'::bytea \
      THEN float8send(\(column)) END
      """
    }

    /// A condition that is true for texts which are not made of plain scalars (``PlainScalars``), so that their bytes do not tell how Swift
    /// compares them. It stands in indexes, so it must not change.
    static func isNotPlain(_ column: String) -> String {
      // All ASCII is plain; what is not longer than its characters is ASCII.
      "CASE WHEN octet_length(\(column)) = char_length(\(column)) THEN false ELSE \(column) ~ '[^\(ranges)]' END"
    }

    private static let ranges: String = {
      func scalar(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        let zeros = String(repeating: "0", count: (value > 0xFFFF ? 8 : 4) - digits.count)
        return "\\\(value > 0xFFFF ? "U" : "u")\(zeros)\(digits)"
      }
      let plain = [0x1...0x2FF] + PlainScalars.ranges.dropFirst()
      return plain.map { "\(scalar($0.lowerBound))-\(scalar($0.upperBound))" }.joined()
    }()
  }
#endif
