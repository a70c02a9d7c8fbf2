import Concord
import Foundation
import Testing

@testable import ConcordPersistence

/// A chapter has notes, and a note refers to another chapter: each type contains the other one.
private struct Chapter: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var title: String
  var notes: [Note] = []

  static let persistentProperties: [PersistentProperty<Chapter>] = [
    .init("id", \.id), .init("title", \.title), .init("notes", \.notes),
  ]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Chapter>] { [.init(\.notes)] }
  init(id: Int, title: String, notes: [Note] = []) { (self.id, self.title, self.notes) = (id, title, notes) }
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), title: try row.read(), notes: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(notes)
  }
}

private struct Note: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var text: String
  var others: [Chapter] = []

  static let persistentProperties: [PersistentProperty<Note>] = [
    .init("id", \.id), .init("text", \.text), .init("others", \.others),
  ]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Note>] { [.init(\.others)] }
  init(id: Int, text: String, others: [Chapter] = []) { (self.id, self.text, self.others) = (id, text, others) }
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), text: try row.read(), others: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
    try row.write(others)
  }
}

@Suite("Stores whose entities refer to each other")
struct AlternatingStoresTests {
  private static let configurations = ["Chapters", "Notes"]

  @Test(
    "Attached one after the other, in both orders, detached and attached again, they lose nothing",
    arguments: StoreKind.combinations.filter { $0.0.type != .inMemory })
  func alternating(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try Model(
      "Alternating", entities: [], configurations: ["Chapters": [Chapter.self], "Notes": [Note.self]])
    let container = strategy.container(model, named: "Alternating")
    func attach(_ name: String) throws -> PersistentStore {
      try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: name, type: kind.type))
    }
    for (round, order) in [Self.configurations, Self.configurations.reversed(), Self.configurations].enumerated() {
      let first = try attach(order[0])
      let context = container.newBackgroundContext()
      // With one of the two nothing can be read or written that may contain the other.
      var reads: [() throws -> Void] = [
        { _ = try context.find(Chapter.self, id: 1) == nil ? context.find(Note.self, id: 1) : nil },
        { _ = try container.viewContext.query(FetchDescriptor<Note>()) },
        { _ = try container.viewContext.query(FetchDescriptor<Chapter>()) },
        {
          context.insert(Chapter(id: 9, title: "", notes: [Note(id: 9, text: "")]))
          try context.save()
        },
      ]
      // Nothing is contained in no rows.
      if round == 0 { reads.remove(at: 2) }
      for (number, read) in reads.enumerated() {
        do {
          try read()
          Issue.record("nothing was thrown: \(order), reading \(number)")
        } catch StoreError.noStore {}
      }
      context.rollback()
      let second = try attach(order[1])
      if round == 0 {
        let last = Chapter(id: 2, title: "last")
        context.insert(Chapter(id: 1, title: "first", notes: [Note(id: 1, text: "see", others: [last])]))
        try context.update(Chapter.self, id: 2) { $0.notes = [Note(id: 2, text: "back")] }
      } else {
        let chapter = try #require(try context.find(Chapter.self, id: 1))
        #expect(chapter.title == (round == 1 ? "first" : "title 1"))
        #expect(chapter.notes.map(\.text) == ["see"])
        #expect(chapter.notes.first?.others.map(\.title) == ["last"])
        #expect(try context.find(Note.self, id: 2)?.text == "back")
        #expect(try context.find(Chapter.self, id: 2)?.notes.map(\.id) == [2])
        try context.update(Chapter.self, id: 1) { $0.title = "title \(round)" }
      }
      try context.save()
      try await container.flush()
      let query = try container.viewContext.query(FetchDescriptor<Chapter>(sortBy: [SortDescriptor(\.id)]))
      #expect(query.value.map(\.id) == [1, 2])
      #expect(query.value.first?.notes.map(\.text) == ["see"])
      for store in round == 1 ? [second, first] : [first, second] { try container.detach(persistentStore: store) }
      #expect(try await eventually { query.value.isEmpty })
    }
  }

  @Test(
    "What refers to an entity that was deleted while the store of its owner was detached says which, until that is taken out",
    arguments: StoreKind.allCases.filter { $0.type != .inMemory })
  func dangling(_ kind: StoreKind) throws {
    try withFolder { folder in
      let model = try Model(
        "Alternating", entities: [], configurations: ["Chapters": [Chapter.self], "Notes": [Note.self]])
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Alternating", model: model)
      func attach(_ name: String) throws -> PersistentStore {
        try container.attachPersistentStore(at: folder, for: StoreConfiguration(name: name, type: kind.type))
      }
      _ = try attach("Chapters")
      let notes = try attach("Notes")
      let context = container.newBackgroundContext()
      let note = Note(id: 1, text: "see", others: [Chapter(id: 2, title: "last"), Chapter(id: 3, title: "kept")])
      context.insert(note)
      try context.save()
      try container.detach(persistentStore: notes)
      #expect(try context.delete(Chapter.self, id: 2))
      try context.save()
      _ = try attach("Notes")
      for read in [
        { _ = try context.find(Note.self, id: 1) }, { _ = try context.fetch(FetchDescriptor<Note>()) },
        { _ = try container.viewContext.query(FetchDescriptor<Note>()) },
      ] as [() throws -> Void] {
        #expect(reason(read) == "a row refers to Chapter 2, which is not stored")
      }
      try context.update(Note.self, id: 1, leavingOut: \.others) { _, links in try links.remove(2, from: \.others) }
      try context.save()
      #expect(try context.find(Note.self, id: 1)?.others.map(\.title) == ["kept"])
    }
  }

  @Test(
    "Entities that contain none of another store are read and changed while that one is detached",
    arguments: StoreKind.allCases.filter { $0.type != .inMemory })
  func contained(_ kind: StoreKind) throws {
    try withFolder { folder in
      let model = try Model(
        "Library", entities: [], configurations: ["Books": [Book.self, Author.self], "Reviews": [Review.self]])
      let both = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: model)
      func attach(_ names: String...) throws {
        for name in names {
          try both.attachPersistentStore(at: folder, for: StoreConfiguration(name: name, type: kind.type))
        }
      }
      try attach("Reviews", "Books")
      let context = both.newBackgroundContext()
      context.insert(
        Book(
          id: "1", title: "", author: Author(id: "1", name: ""),
          reviews: [Review(id: 1, text: "a"), Review(id: 2, text: "b")]))
      try context.save()
      for store in both.persistentStores { try both.detach(persistentStore: store) }
      // Reviews contain nothing, so their store is of use alone.
      try attach("Reviews")
      #expect(try context.fetch(FetchDescriptor<Review>()).map(\.id) == [1, 2])
      try context.update(Review.self, id: 2) { $0.text = "new" }
      try context.save()
      try attach("Books")
      #expect(try context.find(Book.self, id: "1")?.reviews.map(\.text) == ["a", "new"])
    }
  }
}
