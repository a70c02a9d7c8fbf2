#if PostgreSQL
  import CPostgreSQL
  import Foundation

  // Relies on: the pointers that libpq gives to a result's values are valid until the result is cleared, with the lengths that it tells.

  /// The rows that a statement gave, in the binary format.
  final class PostgreSQLResult {
    private let handle: OpaquePointer
    let count: Int

    init(_ handle: OpaquePointer) {
      self.handle = handle
      count = Int(PQntuples(handle))
    }

    deinit { PQclear(handle) }

    /// The number of columns.
    var columnCount: Int { Int(PQnfields(handle)) }

    /// The values of a result, for whoever holds it and reads many of them: it asks libpq as little as it can.
    struct Values {
      fileprivate let handle: OpaquePointer

      /// The 8 bytes of a value; `nil` if it is `NULL` or of another length.
      @inline(__always)
      func word(_ row: Int, _ column: Int) -> UInt64? {
        let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
        guard PQgetlength(handle, row, column) == 8, let start = PQgetvalue(handle, row, column) else { return nil }
        return UInt64(bigEndian: UnsafeRawPointer(start).loadUnaligned(as: UInt64.self))
      }

      /// The bytes of a value; `nil` if it is `NULL`.
      @inline(__always)
      func bytesIfAny(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
        let count = Int(PQgetlength(handle, row, column))
        // Only what is empty may be `NULL`.
        if count == 0, PQgetisnull(handle, row, column) == 1 { return nil }
        return UnsafeRawBufferPointer(start: PQgetvalue(handle, row, column), count: count)
      }
    }

    /// The values, which are valid as long as the result is held.
    var values: Values { Values(handle: handle) }

    /// The number of rows that the statement has written.
    var changedRows: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(handle, Int32(row), Int32(column)) == 1 }

    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(
        start: PQgetvalue(handle, Int32(row), Int32(column)), count: Int(PQgetlength(handle, Int32(row), Int32(column)))
      )
    }

    func bits(_ row: Int, _ column: Int) -> UInt64 {
      let bytes = bytes(row, column)
      if bytes.count == 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
      return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func integer(_ row: Int, _ column: Int) -> Int64 { Int64(bitPattern: bits(row, column)) }
    func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column).first == 1 }
    func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    /// The text; `nil` where it is `NULL`.
    func optionalText(_ row: Int, _ column: Int) -> String? { isNull(row, column) ? nil : text(row, column) }

    /// A `numeric` without a fraction; `nil` if it is none, or too large.
    func unsigned(_ row: Int, _ column: Int) -> UInt64? {
      let bytes = bytes(row, column)
      func part(_ index: Int) -> Int { Int(bytes[2 * index]) << 8 | Int(bytes[2 * index + 1]) }
      guard bytes.count >= 8, bytes.count == 8 + 2 * part(0), part(2) == 0 else { return nil }
      let (count, weight) = (part(0), Int(Int16(bitPattern: UInt16(part(1)))))
      if count == 0 { return 0 }
      guard weight >= count - 1 else { return nil }
      var value: UInt64 = 0
      for index in 0...weight {
        let (product, overflows) = value.multipliedReportingOverflow(by: 10000)
        let (sum, overflowsToo) = product.addingReportingOverflow(index < count ? UInt64(part(4 + index)) : 0)
        if overflows || overflowsToo { return nil }
        value = sum
      }
      return value
    }
  }
#endif
