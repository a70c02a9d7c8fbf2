import Concord
import Foundation
import Testing

@testable import ConcordPersistence

/// A test for each cell of the table of strategies.
@Suite("Strategies")
struct StrategyTests {
  let emma = Review(id: 1, text: "Emma", stars: 3)

  /// Saves while no store can be written to, and says whether that returned before.
  private func returnsWhileStoreIsBusy(_ gate: GateStore, _ save: @escaping @Sendable () throws -> Void) async throws
    -> Bool
  {
    gate.closeGate()
    let isDone = Locked(false)
    let thread = Task.detached {
      try save()
      isDone.withLock { $0 = true }
    }
    var hasReturned = false
    for _ in 0..<40 where !hasReturned {
      try await Task.sleep(for: .milliseconds(5))
      hasReturned = isDone.withLock { $0 }
    }
    gate.openGate()
    try await thread.value
    return hasReturned
  }

  @Test("A background context saves to disk, or into the view and the root", arguments: StrategyKind.allCases)
  func backgroundSave(_ strategy: StrategyKind) async throws {
    let container = strategy.container(try libraryModel())
    let (_, gate) = try GateStore.attach(to: container)
    let context = container.newBackgroundContext()
    context.insert(emma)
    let returns = try await returnsWhileStoreIsBusy(gate) { try context.save() }
    #expect(returns == !strategy.backgroundSavesToDisk)
    if strategy.backgroundSavesToDisk { #expect(try container.stored(Review.self, id: 1) == emma) }
    try await container.flush()
    #expect(try container.stored(Review.self, id: 1) == emma)
  }

  @Test("What the view has saved and is not written yet is shown above what others store meanwhile")
  func savedInViewAboveOthers() async throws {
    let container = StrategyKind.mixed.container(try libraryModel())
    let (_, gate) = try GateStore.attach(to: container)
    let review = Review(id: 2, text: "Persuasion", stars: 4)
    let book = Book(id: "1", title: "Emma", author: Author(id: "1", name: "Jane"))
    let first = container.newBackgroundContext()
    first.insert(book)
    first.insert(emma)
    first.insert(review)
    try first.save()
    gate.closeGate()
    try container.viewContext.update(Review.self, id: 1) { $0.stars = 5 }
    try container.viewContext.update(Book.self, id: "1") { $0.title = "Emma!" }
    try container.viewContext.save()
    // Another one with the same store.
    let others = PersistentStoreCoordinator(model: container.model)
    try others.attach(gate.inner, configuration: "")
    let context = BackgroundContext(parent: others)
    try context.update(Review.self, id: 1) { $0.text = "Emma, 1815" }
    try context.update(Book.self, id: "1") { $0.reviews = [review] }
    try context.save()
    let both = Review(id: 1, text: "Emma, 1815", stars: 5)
    #expect(try container.viewContext.find(Review.self, id: 1)?.value == both)
    let found = try container.viewContext.fetch(
      FetchDescriptor<Review>(predicate: #Predicate { $0.text == "Emma, 1815" }))
    #expect(found == [both])
    #expect(try container.viewContext.find(Book.self, id: "1")?.value.reviews == [review])
    // Out of where others have put it.
    try container.viewContext.delete(Review.self, id: 2)
    #expect(try container.viewContext.find(Book.self, id: "1")?.value.reviews == [])
    try container.viewContext.save()
    gate.openGate()
    try await container.flush()
    #expect(try container.stored(Review.self, id: 1) == both)
    #expect(try container.stored(Book.self, id: "1")?.title == "Emma!")
    #expect(try container.stored(Book.self, id: "1")?.reviews == [])
  }

  @Test("The view shows what is saved before it is written, where it goes through the view")
  func nestedSave() async throws {
    let container = StrategyKind.indirectNested.container(try libraryModel())
    let (_, gate) = try GateStore.attach(to: container)
    gate.closeGate()
    let context = container.newBackgroundContext()
    context.insert(emma)
    try context.save()
    #expect(try container.viewContext.find(Review.self, id: 1)?.value == emma)
    #expect(try container.stored(Review.self, id: 1) == nil)
    #expect(!container.viewContext.hasChanges)
    gate.openGate()
    try await container.flush()
    #expect(try container.stored(Review.self, id: 1) == emma)
  }

  @Test("The view is kept up to date, or not", arguments: StoreKind.combinations)
  func viewFollows(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      let (view, context) = (container.viewContext, container.newBackgroundContext())
      context.insert(Book(id: "b", title: "Emma", author: Author(id: "a", name: "Austen"), reviews: [emma]))
      try context.save()
      try await container.flush()
      let observer = try #require(try view.find(Book.self, id: "b"))
      let stars = try view.query(FetchDescriptor<Review>())
      try context.update(Review.self, id: 1) { $0.stars = 5 }
      try context.update(Book.self, id: "b") { $0.author.name = "Jane Austen" }
      try context.save()
      try await container.flush()
      #expect(observer.value.reviews[0].stars == (strategy.isKeptUpToDate ? 5 : 3))
      #expect(observer.value.author.name == (strategy.isKeptUpToDate ? "Jane Austen" : "Austen"))
      #expect(stars.value.map(\.stars) == [strategy.isKeptUpToDate ? 5 : 3])
      // Reading again shows it under each strategy, to all who observe it.
      #expect(try view.find(Book.self, id: "b")?.value.reviews[0].stars == 5)
      #expect(observer.value.author.name == "Jane Austen")
      // So does a removal.
      try context.delete(Book.self, id: "b")
      try context.save()
      try await container.flush()
      #expect(observer.isRemoved == strategy.isKeptUpToDate)
      #expect(try view.find(Book.self, id: "b") == nil)
      #expect(observer.isRemoved)
    }
  }

  @Test("The view saves to disk, or to the root, which writes in the background", arguments: StrategyKind.allCases)
  func viewSave(_ strategy: StrategyKind) async throws {
    let container = strategy.container(try libraryModel())
    let (_, gate) = try GateStore.attach(to: container)
    let view = container.viewContext
    view.insert(emma)
    #expect(try container.stored(Review.self, id: 1) == nil)
    let returns = try await returnsWhileStoreIsBusy(gate) { try view.save() }
    #expect(returns == !strategy.viewSavesToDisk)
    if strategy.viewSavesToDisk { #expect(try container.stored(Review.self, id: 1) == emma) }
    #expect(!view.hasChanges)
    #expect(try view.find(Review.self, id: 1)?.value == emma)
    try await container.flush()
    #expect(try container.stored(Review.self, id: 1) == emma)
    #expect(try view.find(Review.self, id: 1)?.value == emma)
  }

  @Test("A background context sees what the view has not saved only if it is nested in it, and takes it along")
  func unsavedInView() async throws {
    for strategy in StrategyKind.allCases {
      try await strategy.withContainer(.memory) { container in
        container.viewContext.insert(emma)
        let context = container.newBackgroundContext()
        let isNested = strategy == .indirectNested
        #expect(try context.find(Review.self, id: 1) == (isNested ? emma : nil))
        context.insert(Review(id: 2, text: "Persuasion"))
        try context.save()
        try await container.flush()
        #expect(container.viewContext.hasChanges == !isNested)
        #expect(try container.stored(Review.self, id: 1) == (isNested ? emma : nil))
        #expect(try container.stored(Review.self, id: 2) != nil)
      }
    }
  }

  @Test("Sixteen contexts save at once, and nothing is lost", arguments: StoreKind.combinations)
  func manyContexts(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<16 {
          group.addTask {
            let context = container.newBackgroundContext()
            for step in 0..<10 {
              try await context.perform { context in
                context.insert(Review(id: number * 100 + step, text: "\(number)"))
                context.insert(Author(id: "shared\(step)", name: "\(number)"))
                try context.save()
              }
            }
          }
        }
        try await group.waitForAll()
      }
      try await container.flush()
      let context = BackgroundContext(parent: container.persistentStoreCoordinator)
      #expect(try context.count(FetchDescriptor<Review>()) == 160)
      #expect(try context.count(FetchDescriptor<Author>()) == 10)
      #expect(try container.viewContext.count(FetchDescriptor<Review>()) == 160)
    }
  }

  @Test("A context that is released takes what it has not saved with it", arguments: StoreKind.combinations)
  func releasedContext(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    try await strategy.withContainer(kind) { container in
      weak var released: BackgroundContext?
      do {
        let context = container.newBackgroundContext()
        context.insert(emma)
        released = context
      }
      #expect(released == nil)
      try await container.flush()
      #expect(try container.stored(Review.self, id: 1) == nil)
      #expect(try container.viewContext.find(Review.self, id: 1) == nil)
    }
  }

  @Test("Nothing of a container stays when it is released", arguments: StoreKind.combinations)
  func releasedContainer(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    weak var (released, view, coordinator, store): (AnyObject?, ViewContext?, PersistentStoreCoordinator?, AnyObject?)
    do {
      let container = strategy.container(try libraryModel())
      let attached = try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
      container.viewContext.insert(emma)
      try container.viewContext.save()
      let query = try container.viewContext.query(FetchDescriptor<Review>())
      try await container.flush()
      #expect(query.value == [emma])
      (released, view, coordinator) = (container, container.viewContext, container.persistentStoreCoordinator)
      store = attached.rows
    }
    // What is under way in the background ends first.
    #expect(try await eventually { released == nil && view == nil && coordinator == nil && store == nil })
  }

  @Test("Saving nothing writes nothing, and can be done where nothing can be written")
  func savingNothing() async throws {
    for strategy in StrategyKind.allCases {
      let container = strategy.container(try libraryModel())
      let (_, gate) = try GateStore.attach(to: container)
      gate.fail(with: .diskFull(store: "x"))
      try container.newBackgroundContext().save()
      try container.viewContext.save()
      try await container.flush()
    }
  }

  @Test("A save that fails changes nothing, and can be tried again", arguments: StrategyKind.allCases)
  func failingSave(_ strategy: StrategyKind) async throws {
    let reports = Locked<[BackgroundSaveError]>([])
    let container = strategy.container(try libraryModel()) { error in
      if let error = error as? BackgroundSaveError { reports.withLock { $0.append(error) } }
    }
    let (_, gate) = try GateStore.attach(to: container)
    for error in [StoreError.diskFull(store: "x"), .locked(store: "x")] {
      gate.fail(with: error)
      let context = container.newBackgroundContext()
      context.insert(emma)
      let failure = reason { try context.save() }
      if strategy.backgroundSavesToDisk {
        #expect(failure == "\(error)")
        #expect(context.hasChanges)
        #expect(try container.stored(Review.self, id: 1) == nil)
        gate.fail(with: nil)
        try context.save()
      } else {
        // It was taken by the root, which tells, keeps it, and tries again.
        #expect(failure == nil)
        await #expect(throws: StoreError.self) { try await container.flush() }
        #expect(try await eventually { reports.withLock { !$0.isEmpty } })
        let report = try #require(reports.withLock { $0.last })
        #expect(report.isPending && "\(report.error)" == "\(error)")
        #expect(report.changes.map { $0.object as? Review } == [emma])
        #expect(try container.viewContext.find(Review.self, id: 1)?.value == emma)
        gate.fail(with: nil)
        try await container.flush()
        reports.withLock { $0 = [] }
      }
      #expect(try container.stored(Review.self, id: 1) == emma)
      try BackgroundContext(parent: container.persistentStoreCoordinator).performAndWait { context in
        try context.delete(Review.self, id: 1)
        try context.save()
      }
      try await container.flush()
    }
  }

  @Test("What can never be written is told with its changes, and no longer shown", arguments: StoreKind.allCases)
  func givenUp(_ kind: StoreKind) async throws {
    let reports = Locked<[BackgroundSaveError]>([])
    try await StrategyKind.mixed.withContainer(kind) { error in
      if let error = error as? BackgroundSaveError { reports.withLock { $0.append(error) } }
    } _: { container in
      let view = container.viewContext
      let author = Author(id: "a", name: "A")
      view.insert(Book(id: "1", title: "one", isbn: "same", author: author))
      view.insert(Book(id: "2", title: "two", isbn: "other", author: author))
      try view.save()
      try await container.flush()
      let observer = try #require(try view.find(Book.self, id: "2"))
      try view.update(Book.self, id: "2") { $0.isbn = "same" }
      #expect(observer.value.isbn == "same")
      try view.save()
      try await container.flush()
      #expect(try await eventually { reports.withLock { !$0.isEmpty } })
      let report = try #require(reports.withLock { $0.first })
      #expect("\(report.error)" == "another Book has the same isbn")
      #expect(!report.isPending)
      #expect(report.changes.count == 1 && report.changes[0].kind == .updated)
      #expect((report.changes[0].object as? Book)?.isbn == "same")
      try await container.flush()
      #expect(observer.value.isbn == "other")
      // The next save is written.
      try view.update(Book.self, id: "2") { $0.title = "zwei" }
      try view.save()
      try await container.flush()
      #expect(try container.stored(Book.self, id: "2")?.title == "zwei")
    }
  }
}
