#if Persistence
  import Concord
  import ConcordModel
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  /// As an essay, of a program without searches.
  private struct PlainEssay: PersistentEntity {
    let id: Int
    var title: String
    var text: String?
    var year: Int

    static let entityName = "Essay"
    static let persistentProperties: [PersistentProperty<PlainEssay>] = [
      .init("id", \.id), .init("title", \.title), .init("text", \.text), .init("year", \.year),
    ]

    init(_ id: Int, _ title: String) { (self.id, self.title, text, year) = (id, title, nil, 0) }
    init(from row: inout RowReader) throws {
      (id, title, text, year) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(text)
      try row.write(year)
    }
  }

  /// As an essay, of a program that searches another column.
  private struct TextEssay: PersistentEntity {
    let id: Int
    var title: String
    var text: String?
    var year: Int

    static let entityName = "Essay"
    static let persistentProperties: [PersistentProperty<TextEssay>] = [
      .init("id", \.id), .init("title", \.title), .init("text", \.text, .searchable), .init("year", \.year),
    ]

    init(from row: inout RowReader) throws {
      (id, title, text, year) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(title)
      try row.write(text)
      try row.write(year)
    }
  }

  /// With a text for an id.
  private struct Page: PersistentEntity, Equatable {
    let id: String
    var text: String

    static let persistentProperties: [PersistentProperty<Page>] = [
      .init("id", \.id), .init("text", \.text, .searchable),
    ]

    init(_ id: String, _ text: String) { (self.id, self.text) = (id, text) }
    init(from row: inout RowReader) throws { (id, text) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(text)
    }
  }

  @Suite("Searches of two programs with one file")
  struct SearchTwoProgramsTests {
    typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

    private func withFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      return try await body(folder)
    }

    private func container(_ folder: URL, _ model: Model, _ kind: StoreKind = .sqlite) throws -> Container {
      let container = Container(name: "Essays", model: model)
      try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
      return container
    }

    private func ids(_ query: SearchQuery, _ container: Container) throws -> [Int] {
      try container.newBackgroundContext().fetch(FetchDescriptor<Essay>(search: query)).map(\.id).sorted()
    }

    private func scans(_ container: Container) throws -> Bool {
      try container.newBackgroundContext().explain(FetchDescriptor<Essay>(search: "pony")).scans
    }

    @Test("A program without searches writes what the other one finds, live, and may take the index away meanwhile")
    func withoutSearches() async throws {
      try await withFolder { folder in
        let plain = try Model("Essays", entities: [PlainEssay.self])
        let old = try container(folder, plain)
        let others = old.newBackgroundContext()
        for id in 1...5 { others.insert(PlainEssay(id, "Number \(id)")) }
        try others.save()
        let new = try container(folder, essayModel())
        let hits = try new.viewContext.search("pony", in: Essay.self)
        let best = try new.viewContext.search("pony OR number", in: Essay.self, limit: 2)
        #expect(hits.value.isEmpty && best.value.map(\.id) == [1, 2])
        try others.update(PlainEssay.self, id: 4) { $0.title = "Pony, pony" }
        try others.save()
        #expect(try await eventually { hits.value.map(\.id) == [4] && best.value.map(\.id) == [4, 1] })
        #expect(try !scans(new) && ids("pony", new) == [4] && ids("number", new) == [1, 2, 3, 5])
        // The index goes, and comes again.
        let older = try container(folder, plain)
        #expect(try scans(new) && ids("pony", new) == [4])
        try others.update(PlainEssay.self, id: 2) { $0.title = "A pony" }
        try others.delete(PlainEssay.self, id: 1)
        try others.save()
        #expect(try await eventually { hits.value.map(\.id) == [4, 2] && best.value.map(\.id) == [4, 2] })
        let context = new.newBackgroundContext()
        try context.update(Essay.self, id: 3) { $0.text = "pony" }
        try context.save()
        let newer = try container(folder, essayModel())
        for container in [new, newer] { #expect(try !scans(container) && ids("pony", container) == [2, 3, 4]) }
        try others.update(PlainEssay.self, id: 5) { $0.title = "Fifth pony" }
        try others.save()
        for container in [new, newer] { #expect(try ids("pony", container) == [2, 3, 4, 5]) }
        try context.update(Essay.self, id: 3) { $0.text = nil }
        try context.save()
        for container in [new, newer] { #expect(try !scans(container) && ids("pony", container) == [2, 4, 5]) }
        for container in [old, new, older, newer] {
          try container.detach(persistentStores: container.persistentStores)
        }
      }
    }

    @Test("Programs that search different columns find what each of them writes, whoever has made the index last")
    func otherColumns() async throws {
      try await withFolder { folder in
        let texts = try Model("Essays", entities: [TextEssay.self])
        let (first, second) = (try container(folder, texts), try container(folder, essayModel()))
        let (others, context) = (first.newBackgroundContext(), second.newBackgroundContext())
        for id in 1...3 { context.insert(Essay(id, "Title \(id)", "text")) }
        try context.save()
        func found(_ query: SearchQuery) throws -> [Int] {
          try others.fetch(FetchDescriptor<TextEssay>(search: query)).map(\.id).sorted()
        }
        #expect(try found("text") == [1, 2, 3] && found("title") == [] && ids("title", second) == [1, 2, 3])
        try others.update(TextEssay.self, id: 1) { $0.title = "heron" }
        try others.update(TextEssay.self, id: 2) { $0.text = "heron" }
        try others.save()
        #expect(try ids("heron", second) == [1, 2] && found("heron") == [2])
        let third = try container(folder, texts)
        try context.update(Essay.self, id: 3) { ($0.title, $0.text) = ("crane", "heron") }
        try context.save()
        #expect(try ids("heron", second) == [1, 2, 3] && found("heron") == [2, 3])
        try others.update(TextEssay.self, id: 3) { $0.title = "stork" }
        try others.save()
        #expect(try ids("stork", second) == [3] && ids("crane", second) == [])
        for container in [first, second, third] { try container.detach(persistentStores: container.persistentStores) }
      }
    }

    @Test("Two files of one container with equal ids have their own hits, batches, purges and steps")
    func equalIDs() async throws {
      try await withFolder { folder in
        let model = try Model("Two", entities: [Essay.self], configurations: ["Memos": [Memo.self]])
        let container = Container(name: "Two", model: model)
        try container.attachPersistentStore(at: folder)
        let memos = try container.attachPersistentStore(
          at: folder, for: StoreConfiguration(fileName: "memos", name: "Memos"))
        let (view, context) = (container.viewContext, container.newBackgroundContext())
        for id in 1...4 {
          context.insert(Essay(id, "pony \(id)"))
          context.insert(Memo(id: id, text: "pony \(id)"))
        }
        try context.save()
        let essays = try view.search("pony", in: Essay.self)
        let notes = try view.search("pony", in: Memo.self)
        try container.undoManager.record("Both") { view in
          try view.delete(Memo.self, where: Memo.matching("1 OR 2"))
          try view.update(Essay.self, where: Essay.matching("2")) { $0.title = "heron" }
        }
        try await container.flush()
        #expect(essays.value.map(\.id) == [1, 3, 4] && notes.value.map(\.id) == [3, 4])
        #expect(try context.purge(Essay.self, keeping: .matching(Essay.matching("heron OR 3"))) == 0)
        let kept = essays.value.count
        #expect(kept == 3)
        #expect(try context.purge(Memo.self, keeping: .atMost(0)) == 0)
        try container.undoManager.undo()
        try await container.flush()
        #expect(essays.value.map(\.id) == [1, 2, 3, 4] && notes.value.map(\.id) == [1, 2, 3, 4])
        #expect(try view.aggregate(Memo.self, .count) == 4 && view.aggregate(Essay.self, .count) == 4)
        try container.detach(persistentStore: memos)
        #expect(container.undoManager.redoSteps.isEmpty)
        #expect(try await eventually { notes.value.isEmpty })
        #expect(essays.value.map(\.id) == [1, 2, 3, 4])
        try container.detach(persistentStores: container.persistentStores)
      }
    }

    @Test(
      "What another process purges goes from hits, sections, numbers, steps and unsaved changes",
      arguments: StoreKind.lasting)
    func purgedByOthers(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let (a, b) = (try container(folder, essayModel(), kind), try container(folder, essayModel(), kind))
        for container in [a, b] { container.actAsOtherProcess() }
        let (purging, context) = (a.newBackgroundContext(), b.newBackgroundContext())
        for id in 1...6 { purging.insert(Essay(id, "pony", year: id % 2), modifiedAt: Double(id)) }
        try purging.save()
        let hits = try b.viewContext.search("pony", in: Essay.self)
        let all = try b.viewContext.query(
          FetchDescriptor<Essay>(sortBy: [SortDescriptor(\.year), SortDescriptor(\.id)]))
        let sections = all.sections(by: \.year)
        #expect(hits.value.map(\.id) == Array(1...6) && sections.value.map { $0.elements.count } == [3, 3])
        try b.undoManager.record("First") { try $0.update(Essay.self, id: 1) { $0.title = "first pony" } }
        try b.undoManager.record("Both") {
          try $0.update(Essay.self, where: #Predicate { $0.id == 2 || $0.id == 6 }) { $0.title = "a pony" }
        }
        try context.update(Essay.self, id: 3) { $0.title = "unsaved pony" }
        try context.update(Essay.self, id: 5) { $0.title = "unsaved pony" }
        #expect(try purging.purge(Essay.self, keeping: .matching(#Predicate { $0.id > 4 })) == 4)
        #expect(try await eventually { Set(hits.value.map(\.id)) == [5, 6] })
        #expect(try await eventually { sections.value.map { $0.elements.map(\.id) } == [[6], [5]] })
        #expect(try b.viewContext.aggregate(Essay.self, by: \.year, .count) == [0: 1, 1: 1])
        // What was purged does not come again by a save or a step of others.
        try context.save()
        #expect(try purging.fetch(FetchDescriptor<Essay>()).map(\.id) == [5, 6])
        let result = try b.undoManager.undo()
        #expect(result.conflicts.map(\.reason) == [.notStored])
        #expect(try purging.find(Essay.self, id: 6)?.title == "pony")
        #expect(throws: UndoError.self) { try b.undoManager.undo() }
        #expect(b.undoManager.undoSteps.isEmpty)
        // It comes as it was.
        purging.insert(Essay(2, "pony"), modifiedAt: 2)
        try purging.save()
        #expect(try await eventually { Set(hits.value.map(\.id)) == [2, 5, 6] })
        for container in [a, b] { try container.detach(persistentStores: container.persistentStores) }
      }
    }

    @Test(
      "What another container of the process shows, or has not saved, stays in hits, sections, numbers, steps and changes",
      arguments: StoreKind.lasting)
    func neededByOthers(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let (a, b) = (try container(folder, essayModel(), kind), try container(folder, essayModel(), kind))
        let (purging, context) = (a.newBackgroundContext(), b.newBackgroundContext())
        for id in 1...8 { purging.insert(Essay(id, id < 7 ? "pony" : "heron", year: id % 2), modifiedAt: Double(id)) }
        try purging.save()
        let hits = try b.viewContext.search("pony", in: Essay.self)
        #expect(hits.value.map(\.id) == Array(1...6))
        try b.undoManager.record("First") { try $0.update(Essay.self, id: 1) { $0.title = "first pony" } }
        try context.update(Essay.self, id: 8) { $0.title = "unsaved heron" }
        #expect(try purging.purge(Essay.self, keeping: .atMost(0)) == 1)
        #expect(try purging.fetch(FetchDescriptor<Essay>()).map(\.id).sorted() == [1, 2, 3, 4, 5, 6, 8])
        #expect(try b.viewContext.aggregate(Essay.self, by: \.year, .count) == [0: 4, 1: 3])
        try context.save()
        #expect(try b.undoManager.undo().conflicts.isEmpty)
        #expect(try purging.find(Essay.self, id: 1)?.title == "pony")
        #expect(try purging.find(Essay.self, id: 8)?.title == "unsaved heron")
        #expect(Set(hits.value.map(\.id)) == Set(1...6))
        for container in [a, b] { try container.detach(persistentStores: container.persistentStores) }
      }
    }

    @Test("What a program with a type of its own shows, or has not saved, stays in the table that both have")
    func neededByOtherType() async throws {
      try await withFolder { folder in
        let old = try container(folder, try Model("Essays", entities: [PlainEssay.self]))
        let new = try container(folder, essayModel())
        let (purging, context) = (new.newBackgroundContext(), old.newBackgroundContext())
        for id in 1...6 { purging.insert(Essay(id, "pony")) }
        try purging.save()
        var observer = try old.viewContext.find(PlainEssay.self, id: 1)
        try context.update(PlainEssay.self, id: 2) { $0.title = "unsaved pony" }
        #expect(try purging.purge(Essay.self, keeping: .atMost(0)) == 4)
        #expect(try ids("pony", new) == [1, 2] && observer?.isRemoved == false)
        observer = nil
        context.rollback()
        #expect(try purging.purge(Essay.self, keeping: .atMost(0)) == 2)
        for container in [old, new] { try container.detach(persistentStores: container.persistentStores) }
      }
    }

    @Test("What another program changes by plain SQL is another's change to steps, unsaved changes and hits")
    func plainSQL() async throws {
      try await withFolder { folder in
        let container = try container(folder, essayModel())
        let url = try #require(container.persistentStores.first?.url)
        let other = try DatabaseQueue(path: url.path)
        func sql(_ sql: String) throws { try other.write { try $0.execute(sql: sql) } }
        let (view, context, undo) = (
          container.viewContext, container.newBackgroundContext(), container.undoManager
        )
        for id in 1...4 { context.insert(Essay(id, "pony \(id)", "old")) }
        try context.save()
        let hits = try view.search("old", in: Essay.self)
        try undo.record("Edit") { view in
          try view.update(Essay.self, where: #Predicate { $0.id < 4 }) { ($0.title, $0.text) = ("heron", "new") }
        }
        try sql("UPDATE Essay SET text = 'theirs' WHERE id = 1")
        try sql("DELETE FROM Essay WHERE id = 2")
        let result = try undo.undo()
        #expect(result.conflicts.count == 2)
        let found = try context.fetch(FetchDescriptor<Essay>(sortBy: [SortDescriptor(\.id)]))
        #expect(found == [Essay(1, "pony 1", "theirs"), Essay(3, "pony 3", "old"), Essay(4, "pony 4", "old")])
        #expect(try await eventually { Set(hits.value.map(\.id)) == [3, 4] })
        // A batch beside it.
        try context.delete(Essay.self, where: Essay.matching("old"))
        try sql("INSERT INTO Essay VALUES (9, 'late', 'old', 0, 0)")
        try context.save()
        #expect(try await eventually { hits.value.map(\.id) == [9] })
        try sql("DELETE FROM Essay")
        #expect(try await eventually { hits.value.isEmpty })
        #expect(try view.aggregate(Essay.self, .count) == 0 && ids("old OR pony", container) == [])
        #expect(throws: UndoError.self) { try undo.redo() }
        #expect(try ids("heron", container) == [])
        try container.detach(persistentStores: container.persistentStores)
      }
    }

    @Test("Rows whose ids another program has spelled in two ways are read, searched, counted and purged without harm")
    func spelledIDs() async throws {
      try await withFolder { folder in
        let container = try container(folder, try Model("Pages", entities: [Page.self]))
        let url = try #require(container.persistentStores.first?.url)
        let other = try DatabaseQueue(path: url.path)
        let (view, context) = (container.viewContext, container.newBackgroundContext())
        context.insert(Page("caf\u{E9}", "pony"))
        context.insert(Page("tea", "pony"))
        try context.save()
        let hits = try view.search("pony", in: Page.self)
        let all = try view.query(FetchDescriptor<Page>(sortBy: [SortDescriptor(\.id)]))
        let sections = all.sections(by: \.text)
        #expect(hits.value.count == 2 && sections.value.count == 1)
        try await other.write { db in
          try db.execute(sql: "INSERT INTO Page (id, text, _stamp) VALUES (?, 'pony', 0)", arguments: ["cafe\u{301}"])
        }
        #expect(try await eventually { all.value.count >= 2 && hits.value.count >= 2 && sections.value.count == 1 })
        #expect(try context.count(FetchDescriptor<Page>()) == 3)
        try await other.write { db in
          try db.execute(sql: "UPDATE Page SET text = 'heron' WHERE id = ?", arguments: ["cafe\u{301}"])
        }
        _ = try context.update(Page.self, where: Page.matching("pony")) { $0.text += "!" }
        try context.save()
        _ = try context.fetch(FetchDescriptor<Page>(search: "pony OR heron"))
        _ = try view.aggregate(Page.self, by: \.id, .count)
        try container.undoManager.record("Delete") { try $0.delete(Page.self, where: nil) }
        _ = try? container.undoManager.undo()
        withExtendedLifetime((hits, all, sections)) {}
        _ = try context.purge(Page.self, keeping: .atMost(0))
        try container.detach(persistentStores: container.persistentStores)
      }
    }
  }
#endif
