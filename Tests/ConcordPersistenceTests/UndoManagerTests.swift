import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Undo manager")
struct UndoManagerTests {
  private static let steinbeck = Author(id: "1", name: "Steinbeck")

  private func book(_ id: String, _ title: String, reviews: [Review] = []) -> Book {
    var book = Book(id: id, title: title, author: Self.steinbeck)
    book.reviews = reviews
    return book
  }

  private func with(
    _ test: (StoreKind, StrategyKind), _ body: (any PersistentContainer, ContainerUndoManager) throws -> Void
  ) async throws {
    try await test.1.withContainer(test.0) { container in
      container.viewContext.insert(book("EDEN", "Eden", reviews: [Review(id: 1, text: "good")]))
      try container.viewContext.save()
      try body(container, container.undoManager)
    }
  }

  /// What somebody else does.
  private func others(_ container: any PersistentContainer, _ body: (BackgroundContext) throws -> Void) throws {
    let context = container.newBackgroundContext()
    try body(context)
    try context.save()
  }

  private func found(_ container: any PersistentContainer, _ id: String = "EDEN") throws -> Book? {
    try container.newBackgroundContext().find(Book.self, id: id)
  }

  @Test("A step is saved, undone and redone, and the view shows it", arguments: StoreKind.combinations)
  func undoesAndRedoes(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await with((kind, strategy)) { container, undo in
      let observer = try #require(try container.viewContext.find(Book.self, id: "EDEN"))
      try undo.record("Rename") { view in
        try view.update(Book.self, id: "EDEN") { ($0.title, $0.isbn) = ("East of Eden", "9") }
      }
      #expect(observer.value.title == "East of Eden" && !container.viewContext.hasChanges)
      #expect(undo.status.undoActionName == "Rename")
      #expect(try undo.undo().conflicts.isEmpty)
      #expect(observer.value.title == "Eden" && observer.value.isbn == nil && !container.viewContext.hasChanges)
      try undo.redo()
      #expect(observer.value.title == "East of Eden" && observer.value.isbn == "9")
      try undo.undo()
      #expect(throws: UndoError.self) { try undo.undo() }
    }
    try await with((kind, strategy)) { container, undo in
      try undo.record("Rename") { try $0.update(Book.self, id: "EDEN") { $0.title = "East of Eden" } }
      try undo.undo()
      let box = container
      // What is saved survives: the stores have it once the root has written.
      let title = Locked<String?>(nil)
      try (box as? GenericPersistentContainer<ContextStrategy.Mixed>)?.writePendingChanges()
      try (box as? GenericPersistentContainer<ContextStrategy.IndirectNested>)?.writePendingChanges()
      let stored = try container.stored(Book.self, id: "EDEN")
      title.withLock { $0 = stored?.title }
      #expect(title.withLock { $0 } == "Eden")
    }
  }

  @Test("What others saved later stays, property by property", arguments: StoreKind.combinations)
  func keepsOthers(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await with((kind, strategy)) { container, undo in
      try undo.record("Edit") { view in
        try view.update(Book.self, id: "EDEN") { book in
          (book.title, book.isbn) = ("East of Eden", "9")
          book.reviews.append(Review(id: 2, text: "mine"))
        }
      }
      try container.undoManager.record("Nothing") { _ in }
      if !strategy.viewSavesToDisk, strategy.backgroundSavesToDisk {
        try (container as? GenericPersistentContainer<ContextStrategy.Mixed>)?.writePendingChanges()
      }
      try others(container) { context in
        try context.update(Book.self, id: "EDEN") { book in
          book.isbn = "10"
          book.reviews.append(Review(id: 3, text: "theirs"))
        }
      }
      let result = try undo.undo()
      #expect(result.conflicts.map(\.property) == ["isbn"] && result.conflicts.map(\.reason) == [.changedSince])
      let book = try #require(try container.viewContext.fetch(FetchDescriptor<Book>()).first)
      #expect(book.title == "Eden" && book.isbn == "10")
      #expect(book.reviews.map(\.id) == [1, 3])
      #expect(try container.viewContext.count(FetchDescriptor<Review>()) == 2)
      #expect(try undo.redo().conflicts.isEmpty)
      let again = try #require(try container.viewContext.fetch(FetchDescriptor<Book>()).first)
      #expect(again.title == "East of Eden" && again.isbn == "10" && Set(again.reviews.map(\.id)) == [1, 2, 3])
    }
  }

  @Test("A step of which nothing can be undone says why", arguments: StoreKind.allCases)
  func overtaken(_ kind: StoreKind) async throws {
    try await with((kind, .direct)) { container, undo in
      try undo.record("First") { try $0.update(Book.self, id: "EDEN") { $0.isbn = "1" } }
      try undo.record("Rename") { try $0.update(Book.self, id: "EDEN") { $0.title = "East of Eden" } }
      try others(container) { try $0.update(Book.self, id: "EDEN") { $0.title = "Jenseits von Eden" } }
      do {
        try undo.undo()
        Issue.record("it was undone")
      } catch UndoError.overtaken(let step, let conflicts) {
        #expect(step.actionName == "Rename")
        #expect(conflicts.map(\.description) == ["Book EDEN, title: has been changed since"])
      }
      #expect(try found(container)?.title == "Jenseits von Eden")
      try others(container) { try $0.delete(Book.self, id: "EDEN") }
      do {
        try undo.undo()
        Issue.record("it was undone")
      } catch UndoError.overtaken(_, let conflicts) { #expect(conflicts.map(\.reason) == [.notStored]) }
      #expect(!undo.status.canUndo && !container.viewContext.hasChanges)
    }
  }

  @Test("What a step deleted is stored again in its places, with what it requires", arguments: StoreKind.allCases)
  func deletions(_ kind: StoreKind) async throws {
    try await with((kind, .direct)) { container, undo in
      try undo.record("Delete review") { try $0.delete(Review.self, id: 1) }
      #expect(try found(container)?.reviews == [])
      try undo.undo()
      #expect(try found(container)?.reviews == [Review(id: 1, text: "good")])
      // With it goes what requires it.
      try undo.record("Delete author") { try $0.delete(Author.self, id: "1") }
      #expect(try found(container) == nil)
      try undo.undo()
      #expect(try found(container) == book("EDEN", "Eden", reviews: [Review(id: 1, text: "good")]))
      try undo.redo()
      #expect(try found(container) == nil && undo.status.canUndo)
      // Others have stored it again.
      try others(container) { $0.insert(Author(id: "1", name: "John Steinbeck")) }
      let result = try undo.undo()
      #expect(result.conflicts.map(\.reason) == [.storedSince])
      #expect(try found(container)?.author.name == "John Steinbeck")
      // What it requires is gone.
      try undo.record("Delete book") { try $0.delete(Book.self, id: "EDEN") }
      try others(container) { try $0.delete(Author.self, id: "1") }
      do {
        try undo.undo()
        Issue.record("it was undone")
      } catch UndoError.overtaken(_, let conflicts) { #expect(conflicts.map(\.reason) == [.notStored]) }
      #expect(try found(container) == nil)
    }
  }

  @Test("A reference to an entity that others have deleted is not put back", arguments: StoreKind.allCases)
  func missingReferences(_ kind: StoreKind) async throws {
    try await with((kind, .direct)) { container, undo in
      try undo.record("Edit") { view in
        try view.update(Book.self, id: "EDEN") { book in
          book.title = "East of Eden"
          book.author = Author(id: "2", name: "Another")
          book.reviews = []
        }
      }
      try others(container) { context in
        try context.delete(Author.self, id: "1")
        try context.delete(Review.self, id: 1)
      }
      let result = try undo.undo()
      // The author that the step has inserted stays, too, since the book has it.
      #expect(result.conflicts.map(\.reason) == [.notStored, .notStored, .inUse])
      #expect(result.conflicts.map(\.property) == ["author", "reviews", nil])
      let found = try #require(try found(container))
      #expect(found.title == "Eden" && found.author.id == "2" && found.reviews.isEmpty)
    }
  }

  @Test("What a step inserted is deleted, unless others have changed it or use it", arguments: StoreKind.allCases)
  func insertions(_ kind: StoreKind) async throws {
    try await with((kind, .direct)) { container, undo in
      func insert() throws {
        try undo.record("Insert") { view in view.insert(Review(id: 5, text: "new")) }
      }
      func review() throws -> Review? { try container.newBackgroundContext().find(Review.self, id: 5) }
      try insert()
      try undo.undo()
      #expect(try review() == nil)
      try undo.redo()
      #expect(try review()?.text == "new")
      try others(container) { try $0.update(Review.self, id: 5) { $0.stars = 5 } }
      do {
        try undo.undo()
        Issue.record("it was undone")
      } catch UndoError.overtaken(_, let conflicts) {
        #expect(conflicts.map(\.reason) == [.changedSince] && conflicts.first?.property == "stars")
      }
      try others(container) { try $0.delete(Review.self, id: 5) }
      try insert()
      try others(container) { context in
        let review = try #require(try context.find(Review.self, id: 5))
        try context.update(Book.self, id: "EDEN") { $0.reviews.append(review) }
      }
      do {
        try undo.undo()
        Issue.record("it was undone")
      } catch UndoError.overtaken(_, let conflicts) { #expect(conflicts.map(\.reason) == [.inUse]) }
      #expect(try review() != nil)
    }
  }

  @Test(
    "What a step inserted and others have changed since stays where the step has put it", arguments: StoreKind.allCases)
  func kept(_ kind: StoreKind) async throws {
    try await with((kind, .direct)) { container, undo in
      try undo.record("Edit") { view in
        try view.update(Book.self, id: "EDEN") { book in
          book.title = "East of Eden"
          book.author = Author(id: "2", name: "Another")
          book.reviews += [Review(id: 2, text: "mine"), Review(id: 3, text: "mine")]
        }
      }
      try others(container) { context in
        try context.update(Author.self, id: "2") { $0.name = "A. Nother" }
        try context.update(Review.self, id: 3) { $0.text = "theirs" }
      }
      let result = try undo.undo()
      #expect(
        Set(result.conflicts.map(\.description)) == [
          "Book EDEN, author: has been changed since", "Book EDEN, reviews: has been changed since",
          "Author 2, name: has been changed since", "Review 3, text: has been changed since",
        ])
      let found = try #require(try found(container))
      #expect(found.title == "Eden" && found.author.name == "A. Nother")
      #expect(found.reviews.map(\.text) == ["good", "theirs"])
      #expect(try container.newBackgroundContext().find(Review.self, id: 2) == nil)
      // What the step inserted around it stays, too.
      try undo.record("Insert") { view in view.insert(book("PEARL", "Pearl", reviews: [Review(id: 7, text: "mine")])) }
      try others(container) { try $0.update(Review.self, id: 7) { $0.text = "theirs" } }
      #expect(throws: UndoError.self) { try undo.undo() }
      #expect(try container.newBackgroundContext().find(Book.self, id: "PEARL")?.reviews.map(\.text) == ["theirs"])
    }
  }

  @Test("Typing is one step", arguments: StoreKind.allCases)
  func groups(_ kind: StoreKind) async throws {
    try await with((kind, .mixed)) { container, undo in
      for title in ["E", "Ea", "East"] {
        try undo.record("Typing", joining: "EDEN") { try $0.update(Book.self, id: "EDEN") { $0.title = title } }
      }
      #expect(undo.undoSteps.map(\.size) == [1])
      undo.endGroup()
      try undo.record("Typing", joining: "EDEN") { try $0.update(Book.self, id: "EDEN") { $0.title = "East of" } }
      try undo.undo()
      #expect(try container.viewContext.find(Book.self, id: "EDEN")?.value.title == "East")
      try undo.undo()
      #expect(try container.viewContext.find(Book.self, id: "EDEN")?.value.title == "Eden")
    }
  }

  @Test("What throws leaves nothing, and unsaved changes of before stay", arguments: StoreKind.allCases)
  func failures(_ kind: StoreKind) async throws {
    struct Failed: Error {}
    try await with((kind, .direct)) { container, undo in
      let view = container.viewContext
      let observer = try #require(try view.find(Book.self, id: "EDEN"))
      try view.update(Book.self, id: "EDEN") { $0.title = "unsaved" }
      #expect(throws: Failed.self) {
        try undo.record("Failed") { view in
          try view.update(Book.self, id: "EDEN") { ($0.title, $0.isbn) = ("failed", "1") }
          throw Failed()
        }
      }
      #expect(observer.value.title == "unsaved" && observer.value.isbn == nil && view.hasChanges)
      #expect(!undo.status.canUndo)
      // They are saved with the next step, and are no part of it.
      try undo.record("Edit") { view in
        try view.update(Book.self, id: "EDEN") { $0.isbn = "2" }
        #expect(throws: UndoError.self) { try undo.undo() }
      }
      #expect(!view.hasChanges)
      try undo.undo()
      #expect(try found(container)?.title == "unsaved" && found(container)?.isbn == nil)
      // What was saved before an error is a step.
      #expect(throws: Failed.self) {
        try undo.record("Half") { view in
          try view.update(Book.self, id: "EDEN") { $0.isbn = "3" }
          try view.save()
          try view.update(Book.self, id: "EDEN") { $0.isbn = "4" }
          throw Failed()
        }
      }
      #expect(observer.value.isbn == "3" && undo.status.undoActionName == "Half")
      try undo.undo()
      #expect(observer.value.isbn == nil)
    }
  }

  @Test(
    "Steps end with the store that they changed, and change no other one that is attached",
    arguments: StoreKind.allCases)
  func otherStore(_ kind: StoreKind) async throws {
    let model = try Model("Library", entities: [Author.self], configurations: ["Users": [Review.self]])
    try await StrategyKind.mixed.withContainer(kind, model: model) { container in
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let (view, undo) = (container.viewContext, container.undoManager)
      func attach(_ user: String) throws -> PersistentStore {
        try container.attachPersistentStore(
          at: folder, for: StoreConfiguration(fileName: user, name: "Users", type: kind.type))
      }
      let first = try attach("first")
      try undo.record("Author") { $0.insert(Author(id: "A", name: "a")) }
      try undo.record("New") { view in for id in 1...3 { view.insert(Review(id: id, text: "of the first")) } }
      try undo.record("Delete") { try $0.delete(Review.self, id: 1) }
      try undo.record("Both") { view in
        try view.update(Review.self, id: 2) { $0.text = "same" }
        try view.update(Author.self, id: "A") { $0.name = "b" }
      }
      try undo.record("Twice") { try $0.update(Review.self, id: 2) { $0.stars = 2 } }
      try undo.undo()
      try container.detach(persistentStore: first)
      #expect(undo.status == UndoStatus(undoActionName: "Author", redoActionName: nil))
      let second = try attach("second")
      let context = container.newBackgroundContext()
      for id in 2...3 { context.insert(Review(id: id, text: id == 2 ? "same" : "of the first")) }
      try context.save()
      let before = try context.fetch(FetchDescriptor<Review>())
      #expect(throws: UndoError.self) { try undo.redo() }
      // What others have changed since stays; the step of the first user has set the name.
      #expect(throws: UndoError.self) { try undo.undo() }
      try await container.flush()
      #expect(try context.fetch(FetchDescriptor<Review>()) == before && context.count(FetchDescriptor<Author>()) == 1)
      try container.detach(persistentStore: second)
      withExtendedLifetime(view) {}
    }
  }

  @Test("A step that is recorded, undone or redone while its store is detached ends with it", arguments: 0..<3)
  func detachedMeanwhile(_ kind: Int) async throws {
    let container = try GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: libraryModel())
    let (store, gate) = try GateStore.attach(to: container)
    let (view, undo) = (container.viewContext, container.undoManager)
    view.insert(book("EDEN", "Eden"))
    try view.save()
    let rename = { @Sendable in
      _ = try undo.record("Rename") { try $0.update(Book.self, id: "EDEN") { $0.title = "East of Eden" } }
    }
    if kind > 0 { try rename() }
    if kind > 1 { try undo.undo() }
    gate.closeGateBehind()
    let writes = gate.writes.withLock { $0 }
    let isDone = DispatchGroup()
    func start(_ body: @escaping @Sendable () -> Void) {
      isDone.enter()
      Thread.detachNewThread {
        body()
        isDone.leave()
      }
    }
    // What comes of it is for the save to say.
    start {
      switch kind {
      case 0: try? rename()
      case 1: _ = try? undo.undo()
      default: _ = try? undo.redo()
      }
    }
    while gate.writes.withLock({ $0 }) == writes { await Task.yield() }
    start { try? container.detach(persistentStore: store) }
    // Most often it has come by then to where steps are discarded.
    try await Task.sleep(for: .milliseconds(50))
    gate.openGate()
    await withCheckedContinuation { done in isDone.notify(queue: .global()) { done.resume() } }
    #expect(undo.undoSteps.isEmpty && undo.redoSteps.isEmpty)
    withExtendedLifetime(view) {}
  }

  @Test("A step that cannot be saved is still the last one")
  func failedSave() async throws {
    let container = try GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: libraryModel())
    let (store, gate) = try GateStore.attach(to: container)
    defer { try? container.detach(persistentStore: store) }
    let view = container.viewContext
    view.insert(book("EDEN", "Eden"))
    try view.save()
    let undo = container.undoManager
    try undo.record("Rename") { try $0.update(Book.self, id: "EDEN") { $0.title = "East of Eden" } }
    gate.fail(with: .storeFailed(store: "gate", reason: "full"))
    #expect(throws: StoreError.self) { try undo.undo() }
    #expect(try view.find(Book.self, id: "EDEN")?.value.title == "East of Eden" && !view.hasChanges)
    #expect(throws: StoreError.self) {
      try undo.record("Again") { try $0.update(Book.self, id: "EDEN") { $0.title = "Again" } }
    }
    gate.fail(with: nil)
    #expect(undo.status.undoActionName == "Rename" && !undo.status.canRedo)
    try undo.undo()
    #expect(try view.find(Book.self, id: "EDEN")?.value.title == "Eden")
  }
}
