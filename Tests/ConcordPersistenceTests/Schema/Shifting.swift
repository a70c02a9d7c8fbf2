#if Persistence
  import Concord
  import Foundation

  @testable import ConcordPersistence

  /// What ``Shifting`` refers to.
  protocol ShiftingTarget: PersistentEntity, Hashable {
    var text: String { get }
    init(id: ID, text: String)
  }

  extension ShiftingTarget where ID: PersistentValue {
    static var persistentProperties: [PersistentProperty<Self>] { [.init("id", \.id), .init("text", \.text)] }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), text: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(text)
    }
    init(stored: StoredValue) throws {
      let id = try ID(storedValue: stored)
      self.init(id: id, text: "\(Self.entityName) \(id)")
    }
    /// The id, of an entity that holds what it was stored with.
    var checkedID: StoredValue {
      get throws {
        guard text == "\(Self.entityName) \(id)" else { throw StoreError.noStore(entity: text) }
        return try id.storedValue
      }
    }
  }

  struct LeftTarget: ShiftingTarget {
    let id: Int
    var text: String
  }

  struct RightTarget: ShiftingTarget {
    let id: Int
    var text: String
  }

  struct WordTarget: ShiftingTarget {
    let id: String
    var text: String
  }

  /// An entity whose properties are what a test says at the moment.
  struct Shifting: PersistentEntity, Aggregate {
    static let entityName = "Item"
    static let slots = Locked<[Slot]>([])
    static let someUUID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let someDate = Date(timeIntervalSinceReferenceDate: 7.25)

    let id: Int
    var cells: [Cell]

    /// The places that key paths lead to. Nobody looks there: contexts read and write rows.
    subscript<V: Sendable>(nothing index: Int, _ value: V) -> V {
      get { value }
      set {}
    }

    static var persistentProperties: [PersistentProperty<Shifting>] {
      [.init("id", \.id)] + slots.withLock { $0 }.enumerated().map(property)
    }

    private static func property(_ index: Int, _ slot: Slot) -> PersistentProperty<Shifting> {
      switch slot.kind {
      case .value(let kind): property(index, slot, kind)
      case .reference(.left): reference(index, slot, LeftTarget.self)
      case .reference(.right): reference(index, slot, RightTarget.self)
      case .reference(.word): reference(index, slot, WordTarget.self)
      case .collection(let shape, .left): collection(index, slot, shape, LeftTarget.self)
      case .collection(let shape, .right): collection(index, slot, shape, RightTarget.self)
      case .collection(let shape, .word): collection(index, slot, shape, WordTarget.self)
      }
    }
  }

  // MARK: Descriptions

  /// A value that key paths need and nobody reads.
  private protocol Nothing: Hashable, Sendable { static var nothing: Self { get } }
  extension String: Nothing { fileprivate static var nothing: String { "" } }
  extension SlotColor: Nothing { fileprivate static var nothing: SlotColor { .red } }
  extension UUID: Nothing { fileprivate static var nothing: UUID { Shifting.someUUID } }
  extension Int: Nothing { fileprivate static var nothing: Int { 0 } }
  extension Int8: Nothing { fileprivate static var nothing: Int8 { 0 } }
  extension Bool: Nothing { fileprivate static var nothing: Bool { false } }
  extension Double: Nothing { fileprivate static var nothing: Double { 0 } }
  extension Date: Nothing { fileprivate static var nothing: Date { Shifting.someDate } }

  extension Shifting {
    private static func property(_ index: Int, _ slot: Slot, _ kind: ValueKind) -> PersistentProperty<Shifting> {
      switch kind {
      case .string: plain(index, slot, "new")
      case .color: raw(index, slot, SlotColor.green)
      case .uuid: plain(index, slot, someUUID)
      case .strings: json(index, slot, ["new"])
      case .numbers: json(index, slot, [77])
      case .int: plain(index, slot, 77)
      case .int8: plain(index, slot, 77 as Int8)
      case .bool: plain(index, slot, true)
      case .double: plain(index, slot, 7.5)
      case .date: plain(index, slot, someDate)
      }
    }

    private static func plain<V: PersistentValue & Nothing>(
      _ index: Int, _ slot: Slot, _ mark: V
    ) -> PersistentProperty<Shifting> {
      slot.isOptional
        ? .init(
          slot.name, \.[nothing: index, V?.none], originalName: slot.original, default: slot.isDefaulted ? mark : nil)
        : .init(
          slot.name, \.[nothing: index, V.nothing], originalName: slot.original, default: slot.isDefaulted ? mark : nil)
    }

    private static func raw(_ index: Int, _ slot: Slot, _ mark: SlotColor) -> PersistentProperty<Shifting> {
      slot.isOptional
        ? .init(
          slot.name, \.[nothing: index, SlotColor?.none], originalName: slot.original,
          default: slot.isDefaulted ? mark : nil)
        : .init(
          slot.name, \.[nothing: index, SlotColor.red], originalName: slot.original,
          default: slot.isDefaulted ? mark : nil)
    }

    private static func json<V: Codable & Hashable & Sendable>(
      _ index: Int, _ slot: Slot, _ mark: [V]
    ) -> PersistentProperty<Shifting> {
      slot.isOptional
        ? .init(
          slot.name, json: \.[nothing: index, [V]?.none], originalName: slot.original,
          default: slot.isDefaulted ? mark : nil)
        : .init(
          slot.name, json: \.[nothing: index, [V]()], originalName: slot.original,
          default: slot.isDefaulted ? mark : nil)
    }

    private static func reference<T: ShiftingTarget>(
      _ index: Int, _ slot: Slot, _ type: T.Type
    ) -> PersistentProperty<Shifting> where T.ID: Nothing {
      slot.isOptional
        ? .init(slot.name, \.[nothing: index, T?.none], originalName: slot.original)
        : .init(slot.name, \.[nothing: index, T(id: .nothing, text: "")], originalName: slot.original)
    }

    private static func collection<T: ShiftingTarget>(
      _ index: Int, _ slot: Slot, _ shape: CollectionKind, _ type: T.Type
    ) -> PersistentProperty<Shifting> {
      let (name, original) = (slot.name, slot.original)
      return switch (shape, slot.isOptional) {
      case (.array, false): .init(name, \.[nothing: index, [T]()], originalName: original)
      case (.array, true): .init(name, \.[nothing: index, [T]?.none], originalName: original)
      case (.set, false): .init(name, \.[nothing: index, Set<T>()], originalName: original)
      case (.set, true): .init(name, \.[nothing: index, Set<T>?.none], originalName: original)
      case (.byName, false): .init(name, \.[nothing: index, [String: T]()], originalName: original)
      case (.byName, true): .init(name, \.[nothing: index, [String: T]?.none], originalName: original)
      case (.byNumber, false): .init(name, \.[nothing: index, [Int: T]()], originalName: original)
      case (.byNumber, true): .init(name, \.[nothing: index, [Int: T]?.none], originalName: original)
      }
    }
  }

  // MARK: Reading

  extension Shifting {
    init(from row: inout RowReader) throws {
      id = try row.read()
      cells = []
      for slot in Self.slots.withLock({ $0 }) { cells.append(try Self.read(slot, &row)) }
    }

    private static func read(_ slot: Slot, _ row: inout RowReader) throws -> Cell {
      switch slot.kind {
      case .value(let kind): .value(try read(slot, kind, &row) ?? .null)
      case .reference(.left): try reference(LeftTarget.self, slot, &row)
      case .reference(.right): try reference(RightTarget.self, slot, &row)
      case .reference(.word): try reference(WordTarget.self, slot, &row)
      case .collection(let shape, .left): try collection(LeftTarget.self, slot, shape, &row)
      case .collection(let shape, .right): try collection(RightTarget.self, slot, shape, &row)
      case .collection(let shape, .word): try collection(WordTarget.self, slot, shape, &row)
      }
    }

    private static func read(_ slot: Slot, _ kind: ValueKind, _ row: inout RowReader) throws -> StoredValue? {
      func plain<V: PersistentValue>(_ type: V.Type) throws -> StoredValue? {
        try slot.isOptional ? (row.read() as V?)?.storedValue : (row.read() as V).storedValue
      }
      func json<V: Codable>(_ type: V.Type) throws -> StoredValue? {
        let value: V? = try slot.isOptional ? row.readJSON(V?.self) : row.readJSON(V.self)
        return try value.map { try JSONCoding<V>.encode($0) }
      }
      switch kind {
      case .string: return try plain(String.self)
      case .color:
        let color: SlotColor? = try slot.isOptional ? row.read(SlotColor?.self) : row.read(SlotColor.self)
        return color.map { .text($0.rawValue) }
      case .uuid: return try plain(UUID.self)
      case .strings: return try json([String].self)
      case .numbers: return try json([Int].self)
      case .int: return try plain(Int.self)
      case .int8: return try plain(Int8.self)
      case .bool: return try plain(Bool.self)
      case .double: return try plain(Double.self)
      case .date: return try plain(Date.self)
      }
    }

    private static func reference<T: ShiftingTarget>(
      _ type: T.Type, _ slot: Slot, _ row: inout RowReader
    ) throws -> Cell where T.ID: PersistentValue {
      let target: T? = try slot.isOptional ? row.read(T?.self) : row.read(T.self)
      return .value(try target?.checkedID ?? .null)
    }

    private static func collection<T: ShiftingTarget>(
      _ type: T.Type, _ slot: Slot, _ shape: CollectionKind, _ row: inout RowReader
    ) throws -> Cell where T.ID: PersistentValue {
      func elements<K: PersistentValue & Codable & Hashable>(_ key: K.Type) throws -> Cell {
        let found: [K: T]? = try slot.isOptional ? row.read([K: T]?.self) : row.read([K: T].self)
        return .elements(
          try found.map { found in
            try found.map { [try $0.key.storedValue, try $0.value.checkedID] }.sorted { "\($0)" < "\($1)" }
          })
      }
      switch shape {
      case .array:
        let found: [T]? = try slot.isOptional ? row.read([T]?.self) : row.read([T].self)
        return .elements(try found?.map { [try $0.checkedID] })
      case .set:
        let found: Set<T>? = try slot.isOptional ? row.read(Set<T>?.self) : row.read(Set<T>.self)
        return try found.map { Slot.sorted(try $0.map { [try $0.checkedID] }) } ?? .elements(nil)
      case .byName: return try elements(String.self)
      case .byNumber: return try elements(Int.self)
      }
    }
  }

  // MARK: Writing

  extension Shifting {
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      for (slot, cell) in zip(Self.slots.withLock { $0 }, cells) {
        switch (slot.kind, cell) {
        case (.value(let kind), .value(let value)): try Self.write(value, kind, slot, &row)
        case (.reference(.left), .value(let id)): try Self.write(LeftTarget.self, id, slot, &row)
        case (.reference(.right), .value(let id)): try Self.write(RightTarget.self, id, slot, &row)
        case (.reference(.word), .value(let id)): try Self.write(WordTarget.self, id, slot, &row)
        case (.collection(let shape, .left), .elements(let elements)):
          try Self.write(LeftTarget.self, elements, slot, shape, &row)
        case (.collection(let shape, .right), .elements(let elements)):
          try Self.write(RightTarget.self, elements, slot, shape, &row)
        case (.collection(let shape, .word), .elements(let elements)):
          try Self.write(WordTarget.self, elements, slot, shape, &row)
        default: throw StoreError.misdescribed(entity: "Item", reason: "\(slot) holds \(cell)")
        }
      }
    }

    private static func write(
      _ value: StoredValue, _ kind: ValueKind, _ slot: Slot, _ row: inout RowWriter
    ) throws {
      func plain<V: PersistentValue>(_ type: V.Type) throws {
        if slot.isOptional {
          try row.write(value.isNull ? nil : V(storedValue: value))
        } else {
          try row.write(V(storedValue: value))
        }
      }
      func json<V: Codable>(_ type: V.Type) throws {
        if slot.isOptional {
          try row.write(json: value.isNull ? V?.none : JSONCoding<V>.decode(value))
        } else {
          try row.write(json: JSONCoding<V>.decode(value))
        }
      }
      switch kind {
      case .string: try plain(String.self)
      case .color:
        if slot.isOptional {
          try row.write(value.isNull ? SlotColor?.none : RawCoding<SlotColor>.decode(value))
        } else {
          try row.write(RawCoding<SlotColor>.decode(value))
        }
      case .uuid: try plain(UUID.self)
      case .strings: try json([String].self)
      case .numbers: try json([Int].self)
      case .int: try plain(Int.self)
      case .int8: try plain(Int8.self)
      case .bool: try plain(Bool.self)
      case .double: try plain(Double.self)
      case .date: try plain(Date.self)
      }
    }

    private static func write<T: ShiftingTarget>(
      _ type: T.Type, _ id: StoredValue, _ slot: Slot, _ row: inout RowWriter
    ) throws where T.ID: PersistentValue {
      if slot.isOptional {
        try row.write(id.isNull ? T?.none : T(stored: id))
      } else {
        try row.write(T(stored: id))
      }
    }

    private static func write<T: ShiftingTarget>(
      _ type: T.Type, _ elements: [[StoredValue]]?, _ slot: Slot, _ shape: CollectionKind, _ row: inout RowWriter
    ) throws where T.ID: PersistentValue {
      func write<K: PersistentValue & Codable & Hashable>(by key: K.Type) throws {
        let found = try elements.map { elements in
          Dictionary(try elements.map { (try K(storedValue: $0[0]), try T(stored: $0[1])) }) { first, _ in first }
        }
        if slot.isOptional { try row.write(found) } else { try row.write(found ?? [:]) }
      }
      let found = shape.keyClass == nil ? try elements?.map { try T(stored: $0[0]) } : nil
      switch shape {
      case .array: if slot.isOptional { try row.write(found) } else { try row.write(found ?? []) }
      case .set: if slot.isOptional { try row.write(found.map { Set($0) }) } else { try row.write(Set(found ?? [])) }
      case .byName: try write(by: String.self)
      case .byNumber: try write(by: Int.self)
      }
    }
  }
#endif
