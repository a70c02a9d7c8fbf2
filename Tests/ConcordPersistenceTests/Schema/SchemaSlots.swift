#if Persistence
  import Concord
  import Foundation

  @testable import ConcordPersistence

  // The properties that tests of changing models make up.

  enum SlotColor: String, Codable, CaseIterable, Sendable { case red, green }

  /// The type of a plain value.
  enum ValueKind: CaseIterable {
    case string, color, uuid, strings, numbers, int, int8, bool, double, date

    /// The default, and what migrations make.
    var mark: StoredValue {
      get throws {
        switch self {
        case .string: .text("new")
        case .color: .text("green")
        case .uuid: Shifting.someUUID.storedValue
        case .strings: .text("[\"new\"]")
        case .numbers: .text("[77]")
        case .int, .int8: .integer(77)
        case .bool: .integer(1)
        case .double: .real(7.5)
        case .date: Shifting.someDate.storedValue
        }
      }
    }

    func random(_ random: inout SeededGenerator) -> StoredValue {
      let values: [StoredValue] =
        switch self {
        case .string: [.text("red"), .text("red"), .text("x"), .text("[]"), Shifting.someUUID.storedValue]
        case .color: [.text("red"), .text("green")]
        case .uuid: [Shifting.someUUID.storedValue, .text("2F0A9C5E-35A1-4C11-9C7C-0D1A0C5B7B11")]
        case .strings: [.text("[\"a\"]"), .text("[]")]
        case .numbers: [.text("[1,2]"), .text("[]")]
        case .int: [.integer(0), .integer(1), .integer(2), .integer(1000)]
        case .int8: [.integer(0), .integer(1), .integer(2)]
        case .bool: [.integer(0), .integer(1)]
        case .double: [.real(0.5), .real(3)]
        case .date: [.real(0.25), .real(4)]
        }
      return values.randomElement(using: &random) ?? .null
    }

    /// The values that another type of the same family may be carried over to.
    var family: Int {
      switch self {
      case .string, .color: 0
      case .uuid: 1
      case .strings, .numbers: 2
      case .int, .int8: 3
      case .bool: 4
      case .double: 5
      case .date: 6
      }
    }

    /// The class of the values in a file.
    var storageClass: StorageClass {
      switch self {
      case .string, .color, .uuid, .strings, .numbers: .text
      case .int, .int8, .bool: .integer
      case .double, .date: .real
      }
    }

    func canRead(_ stored: StoredValue) -> Bool {
      switch (self, stored) {
      case (_, .null), (.string, .text), (.int, .integer), (.double, .real), (.date, .real): true
      case (.color, .text(let text)): SlotColor(rawValue: text) != nil
      case (.uuid, .text(let text)): UUID(uuidString: text) != nil
      case (.strings, .text(let text)): text == "[]" || text.hasPrefix("[\"")
      case (.numbers, .text(let text)): text == "[]" || text.hasPrefix("[") && !text.hasPrefix("[\"")
      case (.int8, .integer(let number)): Int8(exactly: number) != nil
      case (.bool, .integer(let number)): number == 0 || number == 1
      default: false
      }
    }
  }

  /// The entity that a relation leads to.
  enum TargetKind: CaseIterable {
    case left, right, word

    /// The ids of those that there are.
    var ids: [StoredValue] {
      self == .word ? [.text("1"), .text("2"), .text("3")] : [.integer(1), .integer(2), .integer(3)]
    }
    var storageClass: StorageClass { self == .word ? .text : .integer }
  }

  enum CollectionKind: CaseIterable {
    case array, set, byName, byNumber

    var keyClass: StorageClass? {
      switch self {
      case .array, .set: nil
      case .byName: .text
      case .byNumber: .integer
      }
    }
  }

  enum SlotKind: Equatable, CustomStringConvertible {
    case value(ValueKind)
    case reference(TargetKind)
    case collection(CollectionKind, TargetKind)

    var isCollection: Bool { if case .collection = self { true } else { false } }

    /// The class of the column: of a collection, that of its count.
    var storageClass: StorageClass {
      switch self {
      case .value(let kind): kind.storageClass
      case .reference(let target): target.storageClass
      case .collection: .integer
      }
    }

    var description: String {
      switch self {
      case .value(let kind): "\(kind)"
      case .reference(let target): "\(target) entity"
      case .collection(let shape, let target): "\(shape) of \(target)"
      }
    }

    static func random(_ random: inout SeededGenerator) -> SlotKind {
      let target = TargetKind.allCases.randomElement(using: &random) ?? .left
      return switch Int.random(in: 0..<5, using: &random) {
      case 0, 1: .value(ValueKind.allCases.randomElement(using: &random) ?? .string)
      case 2: .reference(target)
      default: .collection(CollectionKind.allCases.randomElement(using: &random) ?? .array, target)
      }
    }
  }

  /// What a property of one entity holds.
  enum Cell: Equatable, CustomStringConvertible {
    /// A plain value, or the id of an entity.
    case value(StoredValue)
    /// The ids of entities, after their keys in a dictionary; `nil` for no collection.
    case elements([[StoredValue]]?)

    var description: String {
      switch self {
      case .value(let value): "\(value)"
      case .elements(let elements): elements.map { "\($0)" } ?? "none"
      }
    }

    var isNothing: Bool { self == .value(.null) || self == .elements(nil) }
  }

  struct Slot: CustomStringConvertible {
    var name: String
    var kind: SlotKind
    var isOptional = false
    var original: String?
    var isDefaulted = false
    var isMigrated = false

    var description: String {
      "\(name)\(original.map { " (was \($0))" } ?? ""): \(kind)\(isOptional ? "?" : "")"
        + "\(isDefaulted ? " default" : "")\(isMigrated ? " migrated" : "")"
    }

    var mark: StoredValue {
      get throws {
        switch kind {
        case .value(let kind): try kind.mark
        case .reference(let target): target.ids[2]
        case .collection: .integer(77)
        }
      }
    }

    func random(_ random: inout SeededGenerator) -> Cell {
      let isNothing = isOptional && Int.random(in: 0..<3, using: &random) == 0
      switch kind {
      case .value(let kind): return .value(isNothing ? .null : kind.random(&random))
      case .reference(let target): return .value(isNothing ? .null : target.ids.randomElement(using: &random) ?? .null)
      case .collection(let shape, let target):
        if isNothing { return .elements(nil) }
        let count = Int.random(in: 0...3, using: &random)
        let ids = (0..<count).compactMap { _ in target.ids.randomElement(using: &random) }
        switch shape {
        case .array: return .elements(ids.map { [$0] })
        case .set: return Slot.sorted(ids.map { [$0] })
        case .byName: return .elements(ids.enumerated().map { [.text("k\($0)"), $1] })
        case .byNumber: return .elements(ids.enumerated().map { [.integer(Int64($0)), $1] })
        }
      }
    }

    /// The elements of a set: each once, in the order of their ids.
    static func sorted(_ elements: [[StoredValue]]) -> Cell {
      var unique: [[StoredValue]] = []
      for element in elements where !unique.contains(element) { unique.append(element) }
      return .elements(unique.sorted { "\($0)" < "\($1)" })
    }
  }
#endif
