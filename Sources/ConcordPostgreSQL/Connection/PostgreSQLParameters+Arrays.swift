#if PostgreSQL
  extension PostgreSQLParameters {
    /// Appends all values of others, which have one type, as an array.
    mutating func append(arrayOf values: PostgreSQLParameters, _ type: PostgreSQLType) {
      append(bytesOf: type.arrayOID, reserving: 20 + values.bytes.count + 4 * values.count) { bytes in
        func append(_ number: Int) {
          withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { bytes.append(contentsOf: $0) }
        }
        // One dimension, which begins at 1; an empty array has none.
        append(values.count == 0 ? 0 : 1)
        append(values.ranges.contains { $0 == nil } ? 1 : 0)
        append(Int(type.oid))
        if values.count > 0 {
          append(values.count)
          append(1)
        }
        for range in values.ranges {
          append(range?.count ?? -1)
          if let range { bytes.append(contentsOf: values.bytes[range]) }
        }
      }
    }
  }

  extension PostgreSQLType {
    /// The type of arrays.
    fileprivate var arrayOID: UInt32 {
      switch self {
      case .bigint: 1016
      case .double: 1022
      case .boolean: 1000
      case .text: 1009
      case .bytes: 1001
      case .uuid: 2951
      case .numeric: 1231
      }
    }
  }
#endif
