import Concord
import Foundation
import Testing

@testable import ConcordPersistence

/// An entity that has nothing to do with books.
private struct Memo: PersistentEntity, Equatable {
  let id: Int
  var text: String

  static let persistentProperties: [PersistentProperty<Memo>] = [.init("id", \.id), .init("text", \.text)]
  init(id: Int, text: String) { (self.id, self.text) = (id, text) }
  init(from row: inout RowReader) throws { self.init(id: try row.read(), text: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
  }
}

@Suite("A store that cannot be used")
struct UnusableStoreTests {
  private let coordinator: PersistentStoreCoordinator
  private let memos = CountingStore()

  init() throws {
    let model = try Model(
      "Library", entities: [Author.self, Review.self, Book.self], configurations: ["Notes": [Memo.self]])
    coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.attach(MemoryStore(name: "books"), configuration: "")
    try coordinator.attach(memos, configuration: "Notes")
    let context = coordinator.newContext()
    context.insert(book("1"))
    try context.save()
  }

  private func book(_ id: String) -> Book {
    Book(id: id, title: "", author: Author(id: "a", name: ""), reviews: [Review(id: 1, text: "")])
  }

  private func setUnusable(_ isUnusable: Bool) {
    memos.isFailing.withLock { $0 = isUnusable }
    memos.isUnreadable.withLock { $0 = isUnusable }
  }

  private func ids() throws -> [String] {
    try coordinator.newContext().fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.id)])).map(\.id)
  }

  @Test("Entities that no relations connect are not concerned by each other's saves and removals")
  func connected() throws {
    let model = coordinator.model
    let (book, memo) = (try model.entity(Book.self), try model.entity(Memo.self))
    let author = try model.entity(Author.self)
    #expect(model.connected(with: [author]) == Set(model.entities).subtracting([memo]))
    #expect(model.connected(with: [author]) == model.connected(with: [book]))
    #expect(model.connected(with: [memo]) == [memo])
    #expect(model.connected(with: [memo, book]) == Set(model.entities))
    #expect(model.connected(with: []).isEmpty)
  }

  @Test("Saves of entities with relations, and deletions, in other stores go on")
  func background() throws {
    setUnusable(true)
    let context = coordinator.newContext()
    context.insert(book("2"))
    try context.update(Book.self, id: "1") { $0.title = "changed" }
    #expect(try context.delete(Review.self, id: 1))
    #expect(try context.find(Book.self, id: "2")?.reviews == [])
    try context.save()
    #expect(try coordinator.newContext().find(Book.self, id: "1")?.title == "changed")
    #expect(try context.delete(Author.self, id: "a"))
    try context.save()
    #expect(try ids() == [])
    // It says so where it is concerned.
    context.insert(Memo(id: 1, text: "N"))
    #expect(throws: StoreError.self) { try context.save() }
    setUnusable(false)
    try context.save()
    #expect(try context.count(FetchDescriptor<Memo>()) == 1)
  }

  @Test("What waits for it in the background holds nothing else up")
  func root() throws {
    let errors = Locked(0)
    let root = RootContext(parent: coordinator) { _ in errors.withLock { $0 += 1 } }
    let view = ViewContext(parent: root, delivery: .immediate) { Issue.record($0) }
    view.insert(Memo(id: 1, text: "N"))
    memos.isFailing.withLock { $0 = true }
    try view.save()
    setUnusable(true)
    #expect(throws: StoreError.self) { try root.writePendingChanges() }
    let child = BackgroundContext(parent: view)
    child.insert(book("2"))
    try child.save()
    #expect(throws: StoreError.self) { try root.writePendingChanges() }
    #expect(try ids() == ["1", "2"])
    // Others write, so that what is pending is compared with that.
    let context = coordinator.newContext()
    context.insert(book("3"))
    try context.save()
    #expect(try view.update(Book.self, id: "3") { $0.reviews = [] })
    #expect(try view.delete(Book.self, id: "1"))
    try view.save()
    #expect(throws: StoreError.self) { try root.writePendingChanges() }
    #expect(try ids() == ["2", "3"])
    #expect(try coordinator.newContext().find(Book.self, id: "3")?.reviews == [])
    setUnusable(false)
    try root.writePendingChanges()
    #expect(try coordinator.newContext().count(FetchDescriptor<Memo>()) == 1)
  }
}
