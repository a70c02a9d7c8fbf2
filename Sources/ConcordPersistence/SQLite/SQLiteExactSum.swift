#if Persistence
  import Concord
  import ConcordModel
  import Foundation
  import GRDBSQLite

  // Relies on: SQLite gives each group zeroed memory of the asked size, and calls the last closure once for it, also when the statement fails.

  /// The function with which queries add up numbers without rounding. SQLite's own sum depends on the order of the rows.
  enum SQLiteExactSum {
    static let name = "concord_sum"

    /// Registers it: of numbers as they are stored it gives the words of an ``/Concord/ExactSum``, `NULL` if one is no number.
    static func register(_ connection: OpaquePointer) throws {
      let code = sqlite3_create_function_v2(
        connection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil, nil,
        { context, _, values in
          guard let sum = SQLiteExactSum.sum(of: context, making: true) else { return }
          let value = SQLiteFunctions.stored(values?[0])
          if sqlite3_value_type(values?[0]) == SQLITE_NULL { return }
          if let number = value.number { sum.sum.add(number) } else { sum.isReadable = false }
        },
        { context in
          let sum = SQLiteExactSum.sum(of: context, making: false) ?? Summing()
          SQLiteExactSum.release(context)
          if sum.isReadable {
            SQLiteFunctions.give(.blob(sum.sum.words.withUnsafeBytes { Data($0) }), context)
          } else {
            sqlite3_result_null(context)
          }
        }, nil)
      if code != SQLITE_OK { throw SQLiteFailure(code: code, message: "functions cannot be registered") }
    }

    /// Reads what the function has given; `nil` if a value is no number.
    static func read(_ value: StoredValue) -> ExactSum? {
      guard case .blob(let data) = value else { return nil }
      let size = MemoryLayout<Int64>.size
      return ExactSum(
        words: data.withUnsafeBytes { bytes in
          (0..<bytes.count / size).map { bytes.loadUnaligned(fromByteOffset: $0 * size, as: Int64.self) }
        })
    }

    private final class Summing {
      var sum = ExactSum()
      var isReadable = true
    }

    /// The sum of the group that SQLite is at.
    private static func sum(of context: OpaquePointer?, making: Bool) -> Summing? {
      let size = Int32(MemoryLayout<UnsafeRawPointer?>.size)
      guard let memory = sqlite3_aggregate_context(context, making ? size : 0) else { return nil }
      let place = memory.assumingMemoryBound(to: UnsafeRawPointer?.self)
      if let known = place.pointee { return Unmanaged<Summing>.fromOpaque(known).takeUnretainedValue() }
      if !making { return nil }
      let new = Summing()
      place.pointee = UnsafeRawPointer(Unmanaged.passRetained(new).toOpaque())
      return new
    }

    private static func release(_ context: OpaquePointer?) {
      guard let memory = sqlite3_aggregate_context(context, 0) else { return }
      let place = memory.assumingMemoryBound(to: UnsafeRawPointer?.self)
      if let known = place.pointee { Unmanaged<Summing>.fromOpaque(known).release() }
      place.pointee = nil
    }
  }
#endif
