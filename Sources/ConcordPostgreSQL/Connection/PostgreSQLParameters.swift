#if PostgreSQL
  import Foundation

  /// The values of a statement's parameters, in the binary format of the protocol.
  struct PostgreSQLParameters {
    /// The types of the server, by their object ids.
    private(set) var types: [UInt32] = []
    private(set) var bytes: [UInt8] = []
    /// The range of each value in the bytes; `nil` for `NULL`.
    private(set) var ranges: [Range<Int>?] = []

    static let none = PostgreSQLParameters()

    var count: Int { types.count }

    mutating func removeAll() {
      types.removeAll(keepingCapacity: true)
      bytes.removeAll(keepingCapacity: true)
      ranges.removeAll(keepingCapacity: true)
    }

    mutating func appendNull(_ type: PostgreSQLType) {
      types.append(type.oid)
      ranges.append(nil)
    }

    mutating func append(_ value: Int64) {
      let start = begin(.bigint)
      append(word: UInt64(bitPattern: value))
      end(start)
    }

    mutating func append(_ value: Double) { append(doubleBits: value.bitPattern) }

    mutating func append(doubleBits bits: UInt64) {
      let start = begin(.double)
      append(word: bits)
      end(start)
    }

    mutating func append(_ value: Bool) {
      let start = begin(.boolean)
      bytes.append(value ? 1 : 0)
      end(start)
    }

    mutating func append(_ value: String) {
      let start = begin(.text)
      var value = value
      value.withUTF8 { bytes.append(contentsOf: $0) }
      end(start)
    }

    mutating func append(_ value: Data) {
      let start = begin(.bytes)
      bytes.append(contentsOf: value)
      end(start)
    }

    mutating func append(_ value: UUID) {
      let start = begin(.uuid)
      withUnsafeBytes(of: value.uuid) { bytes.append(contentsOf: $0) }
      end(start)
    }

    /// A whole number as a `numeric`: its digits to the base 10,000.
    mutating func append(numeric value: UInt64) {
      let start = begin(.numeric)
      var digits: [UInt16] = []
      var rest = value
      while rest > 0 {
        digits.append(UInt16(rest % 10000))
        rest /= 10000
      }
      append(bits: UInt64(digits.count), 2)
      append(bits: UInt64(UInt16(bitPattern: Int16(max(0, digits.count - 1)))), 2)
      append(bits: 0, 2)
      append(bits: 0, 2)
      for digit in digits.reversed() { append(bits: UInt64(digit), 2) }
      end(start)
    }

    /// Appends one of the values of other parameters.
    mutating func append(from others: PostgreSQLParameters, at index: Int) {
      types.append(others.types[index])
      let start = bytes.count
      if let range = others.ranges[index] { bytes.append(contentsOf: others.bytes[range]) }
      ranges.append(others.ranges[index].map { _ in start..<bytes.count })
    }

    /// Appends a value of a type by its object id.
    mutating func append(bytesOf type: UInt32, reserving count: Int, _ write: (inout [UInt8]) -> Void) {
      types.append(type)
      bytes.reserveCapacity(bytes.count + count)
      let start = bytes.count
      write(&bytes)
      end(start)
    }

    private mutating func begin(_ type: PostgreSQLType) -> Int {
      types.append(type.oid)
      return bytes.count
    }

    private mutating func end(_ start: Int) { ranges.append(start..<bytes.count) }

    private mutating func append(word: UInt64) {
      withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// The most significant byte first.
    private mutating func append(bits: UInt64, _ count: Int) {
      for index in stride(from: (count - 1) * 8, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: bits >> index))
      }
    }
  }

  /// The types of columns and parameters.
  enum PostgreSQLType: String {
    case bigint
    case double = "double precision"
    case boolean
    case text
    case bytes = "bytea"
    case uuid
    case numeric

    var oid: UInt32 {
      switch self {
      case .bigint: 20
      case .double: 701
      case .boolean: 16
      case .text: 25
      case .bytes: 17
      case .uuid: 2950
      case .numeric: 1700
      }
    }
  }
#endif
