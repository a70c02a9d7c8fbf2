#if Persistence
  import Foundation
  import GRDBSQLite

  // Relies on: SQLite gives the pointer of a collation to it as long as it is registered, and to the closure that releases it once.

  /// Foundation's comparators of texts as collations, which a connection registers when a statement first names one: the name tells which it
  /// is.
  enum SQLiteComparators {
    private static let prefix = "concord_comparator:"

    static func name(_ comparator: String.StandardComparator) throws -> String {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return prefix + String(decoding: try encoder.encode(comparator), as: UTF8.self)
    }

    private static func comparator(_ name: String) -> String.StandardComparator? {
      guard name.hasPrefix(prefix) else { return nil }
      return try? JSONDecoder().decode(String.StandardComparator.self, from: Data(name.dropFirst(prefix.count).utf8))
    }

    private final class Box {
      let comparator: String.StandardComparator
      init(_ comparator: String.StandardComparator) { self.comparator = comparator }
    }

    /// SQLite reports any other name as an unknown collation.
    static func register(_ connection: OpaquePointer) {
      sqlite3_collation_needed(connection, nil) { _, connection, _, name in
        guard let name, let comparator = SQLiteComparators.comparator(String(cString: name)) else { return }
        sqlite3_create_collation_v2(
          connection, name, SQLITE_UTF8, Unmanaged.passRetained(Box(comparator)).toOpaque(),
          { box, aCount, a, bCount, b in
            guard let box else { return 0 }
            let comparator = Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().comparator
            func text(_ bytes: UnsafeRawPointer?, _ count: Int32) -> String {
              String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
            }
            return Int32(comparator.compare(text(a, aCount), text(b, bCount)).rawValue)
          }, { box in if let box { Unmanaged<Box>.fromOpaque(box).release() } })
      }
    }
  }
#endif
