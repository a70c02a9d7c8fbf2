#if PostgreSQL
  /// An array parameter that grows: its elements, in the binary format of the protocol.
  struct ParameterArray {
    fileprivate let type: PostgreSQLType
    /// Each element behind its length.
    fileprivate var elements: [UInt8] = []
    fileprivate var count = 0
    fileprivate var hasNull = false

    init(_ type: PostgreSQLType) { self.type = type }

    /// Appends one of the values of a row.
    mutating func append(_ row: PostgreSQLParameters, at index: Int) {
      count += 1
      guard let range = row.ranges[index] else {
        hasNull = true
        return elements.append(number: -1)
      }
      elements.append(number: range.count)
      row.bytes.withUnsafeBufferPointer { elements.append(contentsOf: $0[range]) }
    }
  }

  extension PostgreSQLParameters {
    mutating func append(_ array: ParameterArray) {
      append(bytesOf: array.type.arrayOID, reserving: 20 + array.elements.count) { bytes in
        // One dimension, which begins at 1; an empty array has none.
        bytes.append(number: array.count == 0 ? 0 : 1)
        bytes.append(number: array.hasNull ? 1 : 0)
        bytes.append(number: Int(array.type.oid))
        if array.count == 0 { return }
        bytes.append(number: array.count)
        bytes.append(number: 1)
        bytes.append(contentsOf: array.elements)
      }
    }
  }

  extension [UInt8] {
    /// Appends a number of four bytes, the most significant byte first.
    fileprivate mutating func append(number: Int) {
      Swift.withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { append(contentsOf: $0) }
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
