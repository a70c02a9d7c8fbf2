#if Persistence
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence

  /// Serialized, because ``Shifting`` has one description at a time.
  @Suite("Pairs of models", .serialized)
  struct SchemaPairsTests {
    /// A store, and the models that it is attached with one after the other.
    private struct Place {
      let kind: StoreKind
      let folder: URL

      func run<R>(_ slots: [Slot], version: Int = 0, _ body: (BackgroundContext) throws -> R) throws -> R {
        Shifting.slots.withLock { $0 = slots }
        let migrations = try slots.filter(\.isMigrated).map { slot in
          let mark = try slot.mark
          return ColumnMigration(slot.name, of: Shifting.self) { _ in mark }
        }
        return try attached(
          folder, [Shifting.self, LeftTarget.self, RightTarget.self, WordTarget.self], migrations,
          version: version, in: kind, body)
      }

      func rows(_ slots: [Slot], version: Int = 0) throws -> [[Cell]] {
        try run(slots, version: version) { context in
          let rows = try context.fetch(FetchDescriptor<Shifting>(sortBy: [SortDescriptor(\.id)])).map(\.cells)
          for (id, row) in rows.enumerated() where try context.find(Shifting.self, id: id)?.cells != row {
            throw StoreError.noStore(entity: "item \(id) is found otherwise than it is fetched")
          }
          return rows
        }
      }

      func fill(_ slots: [Slot], _ rows: [[Cell]]) throws {
        try run(slots) { context in
          for id in 1...3 {
            try context.insert(LeftTarget(stored: .integer(Int64(id))))
            try context.insert(RightTarget(stored: .integer(Int64(id))))
            try context.insert(WordTarget(stored: .text("\(id)")))
          }
          for (id, cells) in rows.enumerated() { context.insert(Shifting(id: id, cells: cells)) }
          try context.save()
        }
      }
    }

    /// Makes models up.
    private struct Maker {
      var random: SeededGenerator
      private let names = ["a", "b", "c", "d"]
      // Few kinds at once, so that the same come together.
      var kinds: [SlotKind] = []

      init(_ random: SeededGenerator) {
        self.random = random
        kinds = (0..<2).map { _ in SlotKind.random(&self.random) }
      }

      private mutating func oneOf(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

      /// A name in upper case now and then, which SQLite does not tell from the other.
      private mutating func spelled(_ name: String) -> String { oneOf(6) ? name.uppercased() : name }

      mutating func slots() -> [Slot] {
        let count = Int.random(in: 1...3, using: &random)
        let names = names.shuffled(using: &random).prefix(count)
        return names.map { name in
          let kind = kinds.randomElement(using: &random) ?? .value(.string)
          return Slot(name: spelled(name), kind: kind, isOptional: oneOf(3))
        }
      }

      /// The model after another one, of which often most stays.
      mutating func changed(_ old: [Slot]) -> [Slot] {
        var slots = oneOf(3) ? slots() : old
        for index in slots.indices {
          if oneOf(4) { slots[index].name = spelled(slots[index].name.lowercased()) }
          if oneOf(4) { slots[index].isOptional.toggle() }
          if oneOf(4) { slots[index].kind = kinds.randomElement(using: &random) ?? slots[index].kind }
          if oneOf(4) {
            let name = names.randomElement(using: &random).map { spelled($0) }
            slots[index].original = name == slots[index].name ? nil : name
          }
          slots[index].isDefaulted = oneOf(2)
          slots[index].isMigrated = oneOf(3)
        }
        if slots.count == 2, oneOf(4) {
          // Two names are exchanged.
          for index in slots.indices { slots[index].original = slots[1 - index].name }
        }
        return slots
      }
    }

    private func check(_ kind: StoreKind, _ maker: inout Maker, _ comment: String) throws -> [String] {
      let old = maker.slots()
      let stored = (0..<3).map { _ in old.map { $0.random(&maker.random) } }
      let isOld = kind == .sqlite && Int.random(in: 0..<3, using: &maker.random) == 0
      return try withFolder { folder in
        let place = Place(kind: kind, folder: folder)
        try place.fill(old, stored)
        if isOld { try forgetShapes(folder) }
        var model = ModelledSchema(old, rows: stored, knowsAll: kind == .sqlite)
        model.forgot = isOld
        var story = "\(comment), isOld \(isOld), \(old): \(stored)"
        var outcomes: [String] = []
        var (slots, rows) = (old, stored)
        for version in 1...3 {
          let new = maker.changed(slots)
          story += "\nthen \(new)"
          let wanted = try model.attached(new, rowCount: stored.count)
          var found: [[Cell]]?
          var problem = ""
          do { found = try place.rows(new, version: version) } catch { problem = "\(error)" }
          #expect(found == wanted?.rows, "\(story): \(problem)")
          outcomes.append(found == nil ? "refused" : found == rows ? "same" : "changed")
          guard let found, let wanted, found == wanted.rows else {
            // What is refused stays as it is.
            if found == nil {
              #expect(problem.contains("does not fit the model"), "\(story): \(problem)")
              #expect(try place.rows(slots, version: version - 1) == rows, "\(story)")
            }
            return outcomes
          }
          #expect(try place.rows(new, version: version) == found, "\(story), again")
          // The old program reads what it has stored, or nothing.
          if let again = try? place.rows(slots, version: version - 1) { #expect(again == rows, "\(story), and back") }
          #expect(try place.rows(new, version: version) == found, "\(story), after the older one")
          (model, slots, rows) = (wanted, new, found)
        }
        return outcomes
      }
    }

    @Test(
      "Whatever becomes of a model: values are carried over, migrated or refused, never taken for others",
      arguments: StoreKind.lasting)
    func pairs(kind: StoreKind) throws {
      let seed = TestOptions.seed(.random(in: 0 ... .max))
      let count = kind.share(of: TestOptions.isLong ? 1500 : 40)
      var random = SeededGenerator(seed: seed)
      var outcomes: [String: Int] = [:]
      var round = 0
      // Few rounds may all end in the same way, by chance: some more then.
      while round < count || (outcomes["refused"] == nil || outcomes.count < 2) && round < 20 * count {
        var maker = Maker(SeededGenerator(seed: random.next()))
        for outcome in try check(kind, &maker, "seed \(seed), round \(round)") { outcomes[outcome, default: 0] += 1 }
        round += 1
      }
      #expect(outcomes["refused"] != nil && outcomes.count >= 2, "seed \(seed): \(outcomes)")
    }
  }
#endif
