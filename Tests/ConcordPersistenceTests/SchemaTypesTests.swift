#if Persistence
  import Concord
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  private struct Other: PersistentEntity, Equatable {
    let id: String
    static let persistentProperties: [PersistentProperty<Other>] = [.init("id", \.id)]
    init(id: String) { self.id = id }
    init(from row: inout RowReader) throws { id = try row.read() }
    func write(to row: inout RowWriter) throws { try row.write(id) }
  }

  private struct Pointing<Target: PersistentEntity & Equatable>: PersistentEntity, Aggregate, Equatable {
    static var entityName: String { "Pointing" }
    let id: Int
    var target: Target?
    static var persistentProperties: [PersistentProperty<Self>] { [.init("id", \.id), .init("target", \.target)] }
    init(id: Int, target: Target?) { (self.id, self.target) = (id, target) }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), target: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(target)
    }
  }

  private protocol Names {
    static var first: (name: String, originalName: String?) { get }
    static var second: (name: String, originalName: String?) { get }
  }

  private enum Plain: Names {
    static var first: (name: String, originalName: String?) { ("reviews", nil) }
    static var second: (name: String, originalName: String?) { ("notes", nil) }
  }

  private enum UpperCase: Names {
    static var first: (name: String, originalName: String?) { ("Reviews", "reviews") }
    static var second: (name: String, originalName: String?) { ("notes", nil) }
  }

  private enum Exchanged: Names {
    static var first: (name: String, originalName: String?) { ("notes", "reviews") }
    static var second: (name: String, originalName: String?) { ("reviews", "notes") }
  }

  private enum BothOfOne: Names {
    static var first: (name: String, originalName: String?) { ("reviews", nil) }
    static var second: (name: String, originalName: String?) { ("more", "reviews") }
  }

  private struct Holder<N: Names>: PersistentEntity, Aggregate, Equatable {
    static var entityName: String { "Holder" }
    let id: Int
    var first: [Review]
    var second: [Review]
    static var persistentProperties: [PersistentProperty<Self>] {
      [
        .init("id", \.id), .init(N.first.name, \.first, originalName: N.first.originalName),
        .init(N.second.name, \.second, originalName: N.second.originalName),
      ]
    }
    init(id: Int, first: [Review], second: [Review]) { (self.id, self.first, self.second) = (id, first, second) }
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), first: try row.read(), second: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(first)
      try row.write(second)
    }
  }

  /// With numbers where the holder has collections.
  private struct Counting: PersistentEntity, Equatable {
    static let entityName = "Holder"
    let id: Int
    var reviews: Int
    static let persistentProperties: [PersistentProperty<Counting>] = [.init("id", \.id), .init("reviews", \.reviews)]
    init(id: Int, reviews: Int) { (self.id, self.reviews) = (id, reviews) }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), reviews: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(reviews)
    }
  }

  /// Attaches a file to a container with a model, and detaches it.
  private func attached<R>(
    _ folder: URL, _ types: [any PersistentEntity.Type], _ migrations: [ColumnMigration] = [], version: Int = 0,
    _ body: (BackgroundContext) throws -> R
  ) throws -> R {
    let model = try Model("Types", entities: types, migrations: migrations, version: version)
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Types", model: model)
    let store = try container.attachPersistentStore(at: folder)
    defer { try? container.detach(persistentStore: store) }
    return try body(container.newBackgroundContext())
  }

  @Test("A program that has a file open does not read names that a newer one has exchanged")
  func exchangedMeanwhile() throws {
    try withFolder { folder in
      let (a, b) = (Review(id: 1, text: "a"), Review(id: 2, text: "b"))
      try attached(folder, [Holder<Plain>.self, Review.self]) { old in
        old.insert(Holder<Plain>(id: 1, first: [a], second: [b]))
        try old.save()
        #expect(try old.find(Holder<Plain>.self, id: 1)?.first == [a])
        try attached(folder, [Holder<Exchanged>.self, Review.self]) { new in
          let carried = try new.find(Holder<Exchanged>.self, id: 1)?.first
          #expect(carried == [a])
        }
        for _ in 0..<2 {
          #expect(reason { _ = try old.find(Holder<Plain>.self, id: 1) }?.contains("newer") == true)
          #expect(reason { _ = try old.fetch(FetchDescriptor<Holder<Plain>>()) }?.contains("newer") == true)
        }
      }
    }
  }

  /// Makes a file look as files did before the shapes of tables were noted in them.
  private func forgetShapes(_ folder: URL) throws {
    let queue = try DatabaseQueue(path: folder.appending(path: "Types.sqlite").path)
    try queue.write { db in
      try db.execute(
        sql: "ALTER TABLE concord_schema DROP COLUMN shape; ALTER TABLE concord_schema DROP COLUMN carried")
    }
    try queue.close()
  }

  @Suite("Changing types and names")
  struct SchemaTypesTests {
    private let prefix = "the store 'Types.sqlite' does not fit the model: "

    @Test("A relation that leads to another type is refused, unless nothing is there", arguments: [false, true])
    func targets(isOld: Bool) throws {
      for target in [Author(id: "a", name: "A"), nil] {
        try withFolder { folder in
          try attached(folder, [Pointing<Author>.self, Author.self]) { context in
            context.insert(Pointing(id: 1, target: target))
            try context.save()
          }
          if isOld { try forgetShapes(folder) }
          let reason = reason {
            let found = try attached(folder, [Pointing<Other>.self, Other.self]) { context in
              try context.fetch(FetchDescriptor<Pointing<Other>>())
            }
            #expect(found == [Pointing(id: 1, target: nil)])
          }
          #expect(
            reason
              == (target == nil ? nil : "\(prefix)Pointing.target is reference(Author), not reference(Other)"))
          if target == nil { return }
          let found = try attached(folder, [Pointing<Author>.self, Author.self]) { context in
            try context.fetch(FetchDescriptor<Pointing<Author>>())
          }
          #expect(found == [Pointing(id: 1, target: target)])
        }
      }
    }

    @Test("A number does not become a collection, nor a collection a number", arguments: [false, true])
    func collections(isOld: Bool) throws {
      try withFolder { folder in
        try attached(folder, [Counting.self]) { context in
          context.insert(Counting(id: 1, reviews: 2))
          try context.save()
        }
        if isOld { try forgetShapes(folder) }
        #expect(
          reason { try attached(folder, [Holder<Plain>.self, Review.self]) { _ in } }
            == "\(prefix)Holder.reviews is \(isOld ? "no collection" : "Int"), not collection")
      }
      try withFolder { folder in
        try attached(folder, [Holder<Plain>.self, Review.self]) { context in
          context.insert(Holder<Plain>(id: 1, first: [Review(id: 1, text: "a")], second: []))
          try context.save()
        }
        if isOld { try forgetShapes(folder) }
        #expect(
          reason { try attached(folder, [Counting.self]) { _ in } }
            == "\(prefix)Holder.reviews is collection, not Int")
      }
    }

    private func withHolder(isOld: Bool = false, _ body: (URL, [Review], [Review]) throws -> Void) throws {
      try withFolder { folder in
        let (first, second) = ([Review(id: 2, text: "b"), Review(id: 1, text: "a")], [Review(id: 3, text: "c")])
        try attached(folder, [Holder<Plain>.self, Review.self]) { context in
          context.insert(Holder<Plain>(id: 1, first: first, second: second))
          try context.save()
        }
        if isOld { try forgetShapes(folder) }
        try body(folder, first, second)
      }
    }

    @Test("A collection may be renamed by the case of its letters alone", arguments: [false, true])
    func upperCase(isOld: Bool) throws {
      try withHolder(isOld: isOld) { folder, first, second in
        for _ in 0..<2 {
          let found = try attached(folder, [Holder<UpperCase>.self, Review.self]) { context in
            try context.fetch(FetchDescriptor<Holder<UpperCase>>())
          }
          #expect(found == [Holder(id: 1, first: first, second: second)])
        }
      }
    }

    @Test("Collections may exchange their names; an older program does not take the one for the other")
    func exchanged() throws {
      try withHolder { folder, first, second in
        for _ in 0..<2 {
          let found = try attached(folder, [Holder<Exchanged>.self, Review.self]) { context in
            try context.fetch(FetchDescriptor<Holder<Exchanged>>())
          }
          #expect(found == [Holder(id: 1, first: first, second: second)])
        }
        #expect(
          reason { try attached(folder, [Holder<Plain>.self, Review.self]) { _ in } }
            == "the store 'Types.sqlite' was migrated to a newer model")
      }
      try withHolder(isOld: true) { folder, _, _ in
        let text = reason { try attached(folder, [Holder<Exchanged>.self, Review.self]) { _ in } }
        #expect(text?.contains("the file does not say whether they were exchanged already") == true, "\(text ?? "")")
      }
    }

    @Test("One collection does not become two")
    func bothOfOne() throws {
      try withHolder { folder, _, _ in
        let text = reason { try attached(folder, [Holder<BothOfOne>.self, Review.self]) { _ in } }
        #expect(
          text?.contains("Holder_more and Holder_reviews would both be made of Holder_reviews") == true, "\(text ?? "")"
        )
      }
    }
  }

  // MARK: Pairs of models

  private enum Color: String, Codable, CaseIterable { case red, green }

  private enum Kind: CaseIterable {
    case string, color, uuid, strings, int, int8, bool, double, date

    func property(_ name: String, _ original: String?, _ isDefaulted: Bool) -> PersistentProperty<Shifting> {
      switch self {
      case .string: .init(name, \.aString, originalName: original, default: isDefaulted ? "new" : nil)
      case .color: .init(name, \.aColor, originalName: original, default: isDefaulted ? .green : nil)
      case .uuid: .init(name, \.aUUID, originalName: original, default: isDefaulted ? Shifting.someUUID : nil)
      case .strings: .init(name, \.someStrings, originalName: original, default: isDefaulted ? ["new"] : nil)
      case .int: .init(name, \.anInt, originalName: original, default: isDefaulted ? 77 : nil)
      case .int8: .init(name, \.anInt8, originalName: original, default: isDefaulted ? 77 : nil)
      case .bool: .init(name, \.aBool, originalName: original, default: isDefaulted ? true : nil)
      case .double: .init(name, \.aDouble, originalName: original, default: isDefaulted ? 7.5 : nil)
      case .date: .init(name, \.aDate, originalName: original, default: isDefaulted ? Shifting.someDate : nil)
      }
    }

    /// The default, and what migrations make.
    var mark: StoredValue {
      get throws {
        switch self {
        case .string: .text("new")
        case .color: .text("green")
        case .uuid: Shifting.someUUID.storedValue
        case .strings: .text("[\"new\"]")
        case .int, .int8: .integer(77)
        case .bool: .integer(1)
        case .double: .real(7.5)
        case .date: Shifting.someDate.storedValue
        }
      }
    }

    func random(_ random: inout SeededGenerator) -> StoredValue {
      switch self {
      case .string:
        [.text("red"), .text("red"), .text("x"), .text("[]"), Shifting.someUUID.storedValue].randomElement(
          using: &random)
          ?? .null
      case .color: .text(["red", "green"].randomElement(using: &random) ?? "red")
      case .uuid: .text(UUID().uuidString)
      case .strings: .text("[\"a\"]")
      case .int: .integer([0, 1, 2, 1000].randomElement(using: &random) ?? 0)
      case .int8: .integer([0, 1, 2].randomElement(using: &random) ?? 0)
      case .bool: .integer([0, 1].randomElement(using: &random) ?? 0)
      case .double: .real([0.5, 3].randomElement(using: &random) ?? 0)
      case .date: .real([0.25, 4].randomElement(using: &random) ?? 0)
      }
    }

    var storageClass: StorageClass {
      switch self {
      case .string, .color, .uuid, .strings: .text
      case .int, .int8, .bool: .integer
      case .double, .date: .real
      }
    }

    var family: Int {
      switch self {
      case .string, .color: 0
      case .uuid: 1
      case .strings: 2
      case .int, .int8: 3
      case .bool: 4
      case .double: 5
      case .date: 6
      }
    }

    func canRead(_ stored: StoredValue) -> Bool {
      switch (self, stored) {
      case (.string, .text), (.int, .integer), (.double, .real), (.date, .real): true
      case (.color, .text(let text)): Color(rawValue: text) != nil
      case (.uuid, .text(let text)): UUID(uuidString: text) != nil
      case (.strings, .text(let text)): text.hasPrefix("[")
      case (.int8, .integer(let number)): Int8(exactly: number) != nil
      case (.bool, .integer(let number)): number == 0 || number == 1
      default: false
      }
    }
  }

  private struct Slot {
    let name: String
    let kind: Kind
    var original: String?
    var isDefaulted = false
    var isMigrated = false
  }

  /// An entity whose properties are what the test says at the moment.
  private struct Shifting: PersistentEntity {
    static let entityName = "Item"
    static let slots = Locked<[Slot]>([])
    static let someUUID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let someDate = Date(timeIntervalSinceReferenceDate: 7.25)

    let id: Int
    var values: [StoredValue]

    var aString: String { "" }
    var aColor: Color { .red }
    var aUUID: UUID { Self.someUUID }
    var someStrings: [String] { [] }
    var anInt: Int { 0 }
    var anInt8: Int8 { 0 }
    var aBool: Bool { false }
    var aDouble: Double { 0 }
    var aDate: Date { Self.someDate }

    static var persistentProperties: [PersistentProperty<Shifting>] {
      [.init("id", \.id)] + slots.withLock { $0 }.map { $0.kind.property($0.name, $0.original, $0.isDefaulted) }
    }

    init(id: Int, values: [StoredValue]) { (self.id, self.values) = (id, values) }

    init(from row: inout RowReader) throws {
      id = try row.read()
      values = []
      for slot in Self.slots.withLock({ $0 }) {
        let value: StoredValue =
          switch slot.kind {
          case .string: .text(try row.read())
          case .color: .text((try row.read() as Color).rawValue)
          case .uuid: (try row.read() as UUID).storedValue
          case .strings: try JSONCoding<[String]>.encode(try row.read())
          case .int: .integer(Int64(try row.read() as Int))
          case .int8: .integer(Int64(try row.read() as Int8))
          case .bool: (try row.read() as Bool).storedValue
          case .double: .real(try row.read())
          case .date: (try row.read() as Date).storedValue
          }
        values.append(value)
      }
    }

    func write(to row: inout RowWriter) throws {
      try row.write(id)
      for (slot, value) in zip(Self.slots.withLock { $0 }, values) {
        switch slot.kind {
        case .string: try row.write(String(storedValue: value))
        case .color: try row.write(RawCoding<Color>.decode(value))
        case .uuid: try row.write(UUID(storedValue: value))
        case .strings: try row.write(JSONCoding<[String]>.decode(value))
        case .int: try row.write(Int(storedValue: value))
        case .int8: try row.write(Int8(storedValue: value))
        case .bool: try row.write(Bool(storedValue: value))
        case .double: try row.write(Double(storedValue: value))
        case .date: try row.write(Date(storedValue: value))
        }
      }
    }
  }

  @Suite("Pairs of models")
  struct SchemaPairsTests {
    private func run<R>(_ folder: URL, _ slots: [Slot], _ body: (BackgroundContext) throws -> R) throws -> R {
      Shifting.slots.withLock { $0 = slots }
      let migrations = try slots.filter(\.isMigrated).map { slot in
        let mark = try slot.kind.mark
        return ColumnMigration(slot.name, of: Shifting.self) { _ in mark }
      }
      return try attached(folder, [Shifting.self], migrations, body)
    }

    private func rows(_ folder: URL, _ slots: [Slot]) throws -> [[StoredValue]] {
      try run(folder, slots) { try $0.fetch(FetchDescriptor<Shifting>()).map(\.values) }
    }

    /// The rows that are expected; `nil` if the file is to be refused.
    private func expected(
      _ old: [Slot], _ new: [Slot], _ rows: [[StoredValue]], isOld: Bool
    ) throws -> [[StoredValue]]? {
      var taken: Set<String> = []
      var columns: [[StoredValue]] = []
      for slot in new {
        let original = slot.original.flatMap { name in old.firstIndex { $0.name == name } }
        let same = old.firstIndex { $0.name == slot.name }
        let mark = Array(repeating: try slot.kind.mark, count: rows.count)
        if isOld, original != nil, same != nil, new.contains(where: { $0.name == slot.original && $0.original != nil })
        {
          return nil
        }
        guard let origin = original ?? same else {
          if !slot.isMigrated, !slot.isDefaulted { return nil }
          columns.append(mark)
          continue
        }
        let values = rows.map { $0[origin] }
        let isReadable = values.allSatisfy(slot.kind.canRead)
        let isKnown =
          old[origin].kind == slot.kind
          || isOld && isReadable && old[origin].kind.storageClass == slot.kind.storageClass
        if slot.isMigrated, original != nil || !isKnown {
          columns.append(mark)
          continue
        }
        if !isKnown, old[origin].kind.family != slot.kind.family || !isReadable { return nil }
        if !taken.insert(old[origin].name).inserted { return nil }
        columns.append(values)
      }
      return rows.indices.map { row in columns.map { $0[row] } }
    }

    @Test("Whatever becomes of a model: values are carried over, migrated or refused, never taken for others")
    func pairs() throws {
      let environment = ProcessInfo.processInfo.environment
      let seed = environment["CONCORD_RANDOM_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
      var random = SeededGenerator(seed: seed)
      let count = environment["CONCORD_LONG"] == "1" ? 3000 : 100
      var outcomes: [String: Int] = [:]
      for round in 0..<count {
        let comment: Comment = "seed \(seed), round \(round)"
        let names = ["a", "b", "c", "d"]
        // Few kinds at once, so that the same come together.
        let kinds = (0..<2).map { _ in Kind.allCases.randomElement(using: &random) ?? .string }
        func slots(_ count: Int) -> [Slot] {
          names.shuffled(using: &random).prefix(count).map {
            Slot(name: $0, kind: kinds.randomElement(using: &random) ?? .string)
          }
        }
        let old = slots(Int.random(in: 1...3, using: &random))
        // Often some of a model stays.
        let kept = Bool.random(using: &random) ? old : slots(Int.random(in: 1...3, using: &random))
        let new = kept.map { slot in
          var slot = slot
          if Int.random(in: 0..<3, using: &random) == 0 {
            slot.original = names.filter { $0 != slot.name }.randomElement(using: &random)
          }
          slot.isDefaulted = Bool.random(using: &random)
          slot.isMigrated = Int.random(in: 0..<3, using: &random) == 0
          return slot
        }
        let isOld = Int.random(in: 0..<3, using: &random) == 0
        let stored = (0..<3).map { _ in old.map { $0.kind.random(&random) } }
        try withFolder { folder in
          try run(folder, old) { context in
            for (id, values) in stored.enumerated() { context.insert(Shifting(id: id, values: values)) }
            try context.save()
          }
          if isOld { try forgetShapes(folder) }
          let wanted = try expected(old, new, stored, isOld: isOld)
          var found: [[StoredValue]]?
          var problem = ""
          do { found = try rows(folder, new) } catch { problem = "\(error)" }
          #expect(found == wanted, "\(comment), old \(old), new \(new), isOld \(isOld), \(stored): \(problem)")
          outcomes[found == nil ? "refused" : found == stored ? "same" : "changed", default: 0] += 1
          if found == nil {
            #expect(problem.contains("does not fit the model"), comment)
            #expect(try rows(folder, old) == stored, comment)
            return
          }
          #expect(try rows(folder, new) == found, comment)
          // The old program reads what it has stored, or nothing.
          if let again = try? rows(folder, old) { #expect(again == stored, "\(comment), old \(old), new \(new)") }
          #expect(try rows(folder, new) == found, comment)
        }
      }
      #expect(outcomes["refused"] != nil && outcomes.count >= 2, "seed \(seed): \(outcomes)")
    }
  }
#endif
