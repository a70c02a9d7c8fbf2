#if PostgreSQL
  import ConcordModel
  import Foundation

  /// The form in which the values of a column are kept: the type of the server, and how stored values become values of it.
  enum ColumnForm: String, Sendable, Hashable, Codable {
    /// Whole numbers, as `bigint`.
    case integer
    /// 1 and 0, as `boolean`.
    case boolean
    /// Numbers with a fraction, and the bits of NaN and -0.0, as `double precision`.
    case real
    /// A number as `Float`.
    case float
    /// Whole numbers that may be larger than the largest `bigint`, as `numeric`.
    case unsigned
    case text
    /// Texts that are UUIDs, as `uuid`.
    case uuid
    case bytes
    /// Values of any kind, as the texts with which SQL writes them.
    case any

    var type: PostgreSQLType {
      switch self {
      case .integer: .bigint
      case .boolean: .boolean
      case .real, .float: .double
      case .unsigned: .numeric
      case .text, .any: .text
      case .uuid: .uuid
      case .bytes: .bytes
      }
    }

    /// The type of the column, as SQL declares it.
    var declaration: String { type == .text ? "text COLLATE \"C\"" : type.rawValue }

    /// The form of values of a storage class, which a coding makes.
    init(_ storageClass: StorageClass, codingName: String) {
      if codingName.hasPrefix("Optional(") {
        self = .any
        return
      }
      let family = codingName.prefix { $0 != "(" }
      switch (storageClass, family) {
      case (.integer, "Bool"): self = .boolean
      case (.integer, _): self = .integer
      case (.real, "Float"): self = .float
      case (.real, _): self = .real
      case (.text, "UUID"): self = .uuid
      case (.text, _): self = .text
      case (.blob, _): self = .bytes
      case (.any, "UInt"), (.any, "UInt64"): self = .unsigned
      case (.any, _): self = .any
      }
    }

    /// The form of an entity's keys.
    init(keyOf entity: EntityDescription) {
      self.init(entity.keyStorageClass, codingName: entity.keyCoding.name)
    }

    /// The form of a column of an entity. One that refers to an entity holds its keys.
    init(_ column: ColumnDescription, targets: [any PersistentEntity.Type]) {
      if let target = column.target, let type = targets.first(where: { $0.entityName == target }) {
        self.init(keyOf: EntityDescription(type))
      } else {
        self.init(column.storageClass, codingName: column.coding.name)
      }
    }
  }

  // MARK: Values

  extension ColumnForm {
    /// Whether a value can be kept.
    func takes(_ value: StoredValue) -> Bool {
      var parameters = PostgreSQLParameters()
      return append(value, to: &parameters)
    }

    /// Appends a value to the parameters of a statement.
    ///
    /// - Returns: `false` if the column cannot keep it.
    func append(_ value: StoredValue, to parameters: inout PostgreSQLParameters) -> Bool {
      switch (self, value) {
      case (_, .null): parameters.appendNull(type)
      case (.integer, .integer(let value)): parameters.append(value)
      case (.integer, .real(let value)):
        guard let whole = Int64(exactly: value) else { return false }
        parameters.append(whole)
      case (.boolean, .integer(let value)) where value == 0 || value == 1: parameters.append(value == 1)
      case (.real, .real(let value)), (.float, .real(let value)): parameters.append(value)
      case (.real, .integer(let value)), (.float, .integer(let value)): parameters.append(Double(value))
      case (.real, .blob(let bits)) where bits.count == 8:
        parameters.append(doubleBits: bits.reduce(0) { $0 << 8 | UInt64($1) })
      case (.float, .blob(let bits)) where bits.count == 4:
        parameters.append(doubleBits: Self.widened(bits.reduce(0) { $0 << 8 | UInt32($1) }))
      case (.unsigned, .integer(let value)):
        guard let value = UInt64(exactly: value) else { return false }
        parameters.append(numeric: value)
      case (.unsigned, .text(let digits)):
        guard digits.utf8.count == 20, let value = UInt64(digits) else { return false }
        parameters.append(numeric: value)
      case (.text, .text(let value)): parameters.append(PostgreSQLText.encode(value))
      case (.uuid, .text(let value)):
        guard let id = UUID(uuidString: value), id.uuidString == value else { return false }
        parameters.append(id)
      case (.bytes, .blob(let value)): parameters.append(value)
      case (.any, _): parameters.append(PostgreSQLText.encode(AnyValue.text(value)))
      default: return false
      }
      return true
    }

    /// Reads a value of a row, which is not `NULL`.
    func read(_ result: PostgreSQLResult, _ row: Int, _ column: Int) -> StoredValue {
      switch self {
      case .integer: .integer(result.integer(row, column))
      case .boolean: .integer(result.bool(row, column) ? 1 : 0)
      case .real: Self.number(result.bits(row, column), isFloat: false)
      case .float: Self.number(result.bits(row, column), isFloat: true)
      case .unsigned: Self.unsigned(result, row, column)
      case .text: .text(PostgreSQLText.decode(result.bytes(row, column)))
      case .uuid: .text(Self.uuid(result.bytes(row, column)))
      case .bytes: .blob(Data(result.bytes(row, column)))
      case .any: AnyValue.value(PostgreSQLText.decode(result.bytes(row, column)))
      }
    }

    /// The stored value that was kept as the bits of a `Double`.
    static func number(_ bits: UInt64, isFloat: Bool) -> StoredValue {
      isFloat ? float(bits) : Double(bitPattern: bits).storedValue
    }

    /// The bits of a `Float` that is NaN or -0.0 are those of a `Double` that is, and the other way round.
    private static func widened(_ bits: UInt32) -> UInt64 {
      let sign = UInt64(bits >> 31) << 63
      if bits << 1 == 0 { return sign }
      return sign | 0x7FF << 52 | UInt64(bits & 0x7F_FFFF) << 29
    }

    private static func float(_ bits: UInt64) -> StoredValue {
      let value = Double(bitPattern: bits)
      let sign = UInt32(bits >> 63) << 31
      let narrow: UInt32
      if value.isNaN {
        narrow = sign | 0xFF << 23 | UInt32(truncatingIfNeeded: bits >> 29) & 0x7F_FFFF
        // Another program may have written a NaN that no `Float` is.
        if !Float(bitPattern: narrow).isNaN { return value.storedValue }
      } else if value == 0, sign != 0 {
        narrow = sign
      } else {
        return .real(value)
      }
      return .blob(Data(stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: narrow >> $0) }))
    }

    private static func unsigned(_ result: PostgreSQLResult, _ row: Int, _ column: Int) -> StoredValue {
      guard let value = result.unsigned(row, column) else { return .text("a number that is too large") }
      return value.storedValue
    }

    private static func uuid(_ bytes: UnsafeRawBufferPointer) -> String {
      guard bytes.count == 16 else { return "" }
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString
    }
  }

  /// Values of any kind as texts, which differ if the values do: `12`, `1.5`, `'text'` and `x'00ff'`.
  enum AnyValue {
    static func text(_ value: StoredValue) -> String {
      switch value {
      case .null: ""
      case .integer(let value): "\(value)"
      case .real(let value): "\(value)"
      case .text(let value): "'\(value)'"
      case .blob(let value): "x'\(value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())'"
      }
    }

    static func value(_ text: String) -> StoredValue {
      if text.hasPrefix("x'"), text.hasSuffix("'"), let bytes = bytes(text.utf8.dropFirst(2).dropLast()) {
        return .blob(bytes)
      }
      if let value = Int64(text) { return .integer(value) }
      if let value = Double(text) { return .real(value) }
      let bytes = Array(text.utf8)
      guard bytes.count >= 2, bytes.first == UInt8(ascii: "'"), bytes.last == UInt8(ascii: "'") else {
        return .text(text)
      }
      return .text(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self))
    }

    private static func bytes(_ digits: some Collection<UInt8>) -> Data? {
      var found = Data()
      var high: UInt8?
      for digit in digits {
        guard let value = Character(Unicode.Scalar(digit)).hexDigitValue.map({ UInt8($0) }) else { return nil }
        if let first = high {
          found.append(first << 4 | value)
          high = nil
        } else {
          high = value
        }
      }
      return high == nil ? found : nil
    }
  }
#endif
