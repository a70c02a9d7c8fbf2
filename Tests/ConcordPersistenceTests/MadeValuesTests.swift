#if Persistence
  import ConcordModel
  import Foundation
  import Testing

  @testable import ConcordPersistence

  private enum Mood: String, Codable { case calm, wild }

  private struct Old: PersistentEntity, Aggregate, Equatable {
    static let entityName = "Thing"
    let id: Int
    var code: String
    var mood: String
    var critic: Review?

    static let persistentProperties: [PersistentProperty<Old>] = [
      .init("id", \.id), .init("code", \.code), .init("mood", \.mood), .init("critic", \.critic),
    ]
    init(id: Int, critic: Review?) { (self.id, code, mood, self.critic) = (id, "c\(id)", "m\(id)", critic) }
    init(from row: inout RowReader) throws {
      (id, code, mood, critic) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(code)
      try row.write(mood)
      try row.write(critic)
    }
  }

  private struct New: PersistentEntity, Aggregate {
    static let entityName = "Thing"
    let id: Int
    var code: UUID
    var mood: Mood
    var critic: Review

    static let persistentProperties: [PersistentProperty<New>] = [
      .init("id", \.id), .init("code", \.code), .init("mood", \.mood), .init("critic", \.critic),
    ]
    init(from row: inout RowReader) throws {
      (id, code, mood, critic) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(code)
      try row.write(mood)
      try row.write(critic)
    }
  }

  @Suite("Values that migrations make")
  struct MadeValuesTests {
    private let uuid = UUID()

    /// Attaches a store of two old things, of which the second one has no critic, with migrations that make these values of the second one.
    private func migrate(
      _ folder: URL, _ kind: StoreKind, code: StoredValue? = nil, mood: StoredValue = .text("wild"),
      critic: StoredValue = .integer(1)
    ) throws -> [New] {
      func made(_ column: String, _ first: StoredValue, _ second: StoredValue) -> ColumnMigration {
        ColumnMigration(column, of: New.self) { old in
          guard case .integer(2) = old["id"] else { return first }
          return second
        }
      }
      let migrations = [
        made("code", .text(uuid.uuidString), code ?? .text(uuid.uuidString)), made("mood", .text("calm"), mood),
        // Not asked for the first one, which has a critic.
        made("critic", .integer(77), critic),
      ]
      return try attached(folder, [New.self, Review.self], migrations, in: kind) { try $0.fetch(FetchDescriptor()) }
    }

    @Test(
      "What cannot be read, leads nowhere or is missing is told, and the store is as it was",
      arguments: StoreKind.lasting)
    func refused(_ kind: StoreKind) throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let (critic, things) = (
        Review(id: 1, text: "c"), [Old(id: 1, critic: Review(id: 1, text: "c")), Old(id: 2, critic: nil)]
      )
      try attached(folder, [Old.self, Review.self], in: kind) { context in
        for thing in things { context.insert(thing) }
        try context.save()
      }
      func problem(_ body: () throws -> [New]) -> String {
        do {
          _ = try body()
          return "none"
        } catch StoreError.incompatibleStore(_, let differences) {
          return differences.joined(separator: "; ")
        } catch { return "another: \(error)" }
      }
      func check(_ found: String, begins expected: String, ends end: String = "") throws {
        #expect(found.hasPrefix(expected) && found.hasSuffix(end), "\(found)")
        let stored = try attached(folder, [Old.self, Review.self], in: kind) { try $0.fetch(FetchDescriptor<Old>()) }
        #expect(stored == things)
      }
      // A column of UUIDs in PostgreSQL takes nothing else.
      try check(
        problem { try migrate(folder, kind, code: .text("none")) }, begins: "Thing.code ",
        ends: kind == .sqlite ? "has 1 value that cannot be read as UUID" : "")
      try check(
        problem { try migrate(folder, kind, mood: .text("none")) },
        begins: "Thing.mood has 1 value that cannot be read as ")
      try check(
        problem { try migrate(folder, kind, critic: .integer(99)) }, begins: "Thing.critic",
        ends: kind == .sqlite ? " leads nowhere in 1 row" : " leads nowhere in some rows")
      try check(
        problem { try migrate(folder, kind, critic: .null) }, begins: "Thing.critic is required, and missing in 1 row")
      let migrated = try migrate(folder, kind)
      #expect(migrated.map(\.code) == [uuid, uuid] && migrated.map(\.mood) == [.calm, .wild])
      #expect(migrated.map(\.critic) == [critic, critic])
    }
  }
#endif
