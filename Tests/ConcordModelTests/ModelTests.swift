import ConcordModel
import Foundation
import Testing

struct Writer: PersistentEntity {
  let id: Int
  var name: String
  static let persistentProperties: [PersistentProperty<Writer>] = [.init("id", \.id), .init("name", \.name)]
  init(from row: inout RowReader) throws {
    id = try row.read()
    name = try row.read()
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
  }
}

/// Describes its row as it is told.
struct Described<Tag: Sendable>: PersistentEntity, Aggregate {
  let id: Int
  var first: String
  var writers: [Writer]
  var number: Int???
  var media: [Jacket]
  init(from row: inout RowReader) throws { throw StoreError.unknownEntity("none is read") }
  func write(to row: inout RowWriter) throws {}
  static var persistentProperties: [PersistentProperty<Described>] {
    switch Tag.self {
    case is Twice.Type: [.init("name", \.first), .init("NAME", \.first)]
    case is Reserved.Type: [.init("_stamp", \.first)]
    case is WithWriters.Type: [.init("id", \.id), .init("writers", \.writers)]
    case is Thrice.Type: [.init("id", \.id), .init("number", \.number)]
    case is WithMedia.Type: [.init("id", \.id), .init("media", \.media)]
    default: []
    }
  }
  static var entityName: String { Tag.self == WithName.self ? "WRITER" : "Described" }
}

enum Twice {}
enum Reserved {}
enum WithWriters {}
enum Thrice {}
enum WithMedia {}
enum WithName {}

/// Its properties differ in their letters' case only.
struct Jacket: PersistentWrapper {
  var cover: String
  var COVER: String

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Jacket>
  ) -> [PartialIdentifiableKeyPath<Root>] { [] }
  static let persistentProperties: [PersistentProperty<Jacket>] = [.init("cover", \.cover), .init("COVER", \.COVER)]
  init(case name: String, from row: inout RowReader) throws { (cover, COVER) = (try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(cover)
    try row.write(COVER)
  }
}

@Suite("Models")
struct ModelTests {
  @Test("A model that is not sound is a typed error that says why")
  func unsound() throws {
    func reason(_ types: [any PersistentEntity.Type]) -> String? {
      do {
        _ = try Model("M", entities: types)
        return nil
      } catch StoreError.invalidModel("M", let reason) { return reason } catch { return "\(error)" }
    }
    #expect(reason([Writer.self, Writer.self]) == nil)
    #expect(reason([Described<Twice>.self]) == "Described needs two columns 'NAME'")
    #expect(reason([Described<Reserved>.self]) == "the name '_stamp' in Described is taken by the store")
    #expect(reason([Described<WithWriters>.self]) == "Described refers to Writer, which is not listed")
    #expect(reason([Described<WithWriters>.self, Writer.self]) == nil)
    #expect(
      reason([Described<Thrice>.self])
        == "Described: 'number' is optional more than twice, which is not told apart when it is read")
    #expect(reason([Described<WithMedia>.self]) == "Described.media needs two columns 'media_COVER'")
    #expect(reason([Writer.self, Described<WithName>.self]) == "Writer and WRITER both need a table 'WRITER'")
  }

  @Test("A configuration has a name of which the name of a file can be made")
  func configurationNames() throws {
    func reason(_ names: String...) -> String? {
      do {
        let configurations: [String: [any PersistentEntity.Type]] = Dictionary(
          uniqueKeysWithValues: names.map { ($0, [Writer.self]) })
        _ = try Model("M", entities: [], configurations: configurations)
        return nil
      } catch StoreError.invalidModel("M", let reason) { return reason } catch { return "\(error)" }
    }
    #expect(reason("Kept", "kept", "v1.2", ".hidden") == nil)
    // With what follows it, "/" may be one character that is not "/".
    let joined = ["../\u{301}a", "a/\u{200D}b", "/\u{FE0F}", "a/\u{20DD}", "/\u{1F3FB}", "a\0\u{301}"]
    for name in ["a/b", "/", ".", "..", "...", "a\0"] + joined {
      #expect(
        reason(name)
          == "the configuration '\(name)' has a name that cannot be a part of a file's: use another, without '/'")
    }
    #expect(reason(String(repeating: "n", count: 255), String(repeating: "e\u{301}", count: 127)) == nil)
    for name in [String(repeating: "n", count: 256), String(repeating: "\u{E9}", count: 128)] {
      #expect(
        reason(name) == "the configuration '\(name)' has a name that cannot be a part of a file's: use a shorter one")
    }
    #expect(reason("") == "a configuration has no name, as stores have that belong to none: give it one")
  }

  @Test("A type may stand in several configurations, and counts once in each")
  func severalConfigurations() throws {
    let model = try Model(
      "M", entities: [Writer.self], configurations: ["A": [Writer.self, Writer.self], "B": [Writer.self]])
    let writer = try model.entity(Writer.self)
    #expect(model.entities == [writer] && model.entities(in: "A") == [writer] && model.entities(in: "B") == [writer])
    #expect(
      model.isMeant(writer, for: "A", attached: ["A", "B"]) && model.isMeant(writer, for: "B", attached: ["A", "B"]))
  }

  @Test("A weight that is no positive number is 1", arguments: [0, -1, .nan, .infinity, -.infinity] as [Double])
  func weights(_ weight: Double) {
    #expect(AttributeOption.searchable(weight: weight) == .searchable)
    #expect(AttributeOption.searchable(weight: 0.5) != .searchable)
  }

  @Test("A registered model is found by its name")
  func registering() throws {
    let name = UUID().uuidString
    #expect(Model.registered(name) == nil)
    let model = try Model(name, entities: [Writer.self])
    model.register()
    #expect(Model.registered(name) === model)
  }

  @Test("An entity is meant for the configurations that list it, and without one for what no other is meant for")
  func configurations() throws {
    let model = try Model(
      "M", entities: [],
      configurations: ["TransientData": [Described<WithWriters>.self], "PersistentData": [Writer.self]])
    let (writer, described) = (try model.entity(Writer.self), try model.entity(Described<WithWriters>.self))
    let both = ["TransientData", "PersistentData"]
    #expect(model.isMeant(described, for: "TransientData", attached: both))
    #expect(!model.isMeant(described, for: "PersistentData", attached: both))
    #expect(model.isMeant(writer, for: "PersistentData", attached: both))
    #expect(!model.isMeant(writer, for: "TransientData", attached: both))
    #expect(model.isMeant(described, for: "", attached: [""]))
    #expect(model.isMeant(writer, for: "", attached: [""]))
    #expect(!model.isMeant(described, for: "", attached: ["", "TransientData"]))
    // It does not get into the store of another configuration because its own is not attached.
    #expect(!model.isMeant(described, for: "PersistentData", attached: ["PersistentData"]))
    #expect(!model.isMeant(writer, for: "Unknown", attached: ["Unknown"]))
    try model.checkConfiguration("")
    try model.checkConfiguration("PersistentData")
    #expect { try model.checkConfiguration("Data") } throws: { error in
      "\(error)" == "the model 'M' declares no configuration 'Data'; it declares 'PersistentData', 'TransientData'"
    }
  }

  @Test("The relations of a persistent aggregate are those of its properties")
  func relations() {
    #expect(Described<WithWriters>.fixedRelations?.count == 1)
    #expect(Described<Twice>.fixedRelations?.count == 0)
  }

  @Test("Stored values are ordered as SQLite orders them, numbers without rounding")
  func order() {
    let ordered: [StoredValue] = [
      .null, .real(-.infinity), .integer(.min), .integer(-1), .real(-0.5), .integer(0), .real(0.5),
      .integer(9_007_199_254_740_992), .integer(9_007_199_254_740_993), .real(0x1p63), .real(.infinity), .text(""),
      .text("a\0"), .text("b"), .text("é"), .blob(Data()), .blob(Data([0])), .blob(Data([255])),
    ]
    for (i, a) in ordered.enumerated() {
      for (j, b) in ordered.enumerated() { #expect(StoredValue.precedes(a, b) == (i < j), "\(a), \(b)") }
    }
    #expect(!StoredValue.precedes(.integer(1), .real(1)) && !StoredValue.precedes(.real(1), .integer(1)))
    #expect(StoredValue.text("\u{e9}") != .text("e\u{301}"))
  }

  @Test("Whole numbers that are too large for SQLite are ordered as numbers are")
  func unsignedOrder() {
    let numbers: [UInt64] = [0, 1, 1 << 63 - 1, 1 << 63, 1 << 63 + 1, 10_000_000_000_000_000_000, .max]
    for (a, b) in zip(numbers, numbers.dropFirst()) {
      #expect(StoredValue.precedes(a.storedValue, b.storedValue), "\(a), \(b)")
    }
  }
}
