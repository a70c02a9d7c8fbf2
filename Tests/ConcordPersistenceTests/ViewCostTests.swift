import Concord
import Foundation
import Testing

@testable import ConcordPersistence

/// What others have saved and the view is not told of yet.
@Suite("What blocks of the view cost")
struct ViewCostTests {
  /// A view of reviews that is told of nothing while `hold` is held.
  private struct Library {
    let rows = CountingStore()
    let coordinator: PersistentStoreCoordinator
    let view: ViewContext
    let list: EntityObserver<[Review]>
    let hold = NSLock()
    private let holding: StoreObservation

    init(isIndirect: Bool = false) throws {
      let model = try Model("Library", entities: [Review.self, Slip.self])
      coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.attach(rows, configuration: "")
      // It is told first, since it follows first.
      holding = coordinator.observeChanges { [hold] _ in hold.withLock {} }
      let errors: AsyncErrorHandlerBlock = { _ in }
      let root = RootContext(parent: coordinator, errorHandler: errors)
      view = ViewContext(parent: isIndirect ? root : coordinator, delivery: .immediate, errorHandler: errors)
      let context = coordinator.newContext()
      context.insert(Review(id: -1, text: ""))
      try context.save()
      coordinator.settle()
      list = try view.query(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)]))
    }
  }

  private struct Work: Equatable {
    /// Rows that are read.
    var reads = 0
    /// Keys of what is not shown that are looked at.
    var keys = 0

    static func - (a: Work, b: Work) -> Work { Work(reads: a.reads - b.reads, keys: a.keys - b.keys) }
  }

  /// What a block does that changes an entity so often, after others have saved so many that the view is not told of yet.
  private func work(changes: Int, saved: Int, isIndirect: Bool) throws -> Work {
    let library = try Library(isIndirect: isIndirect)
    library.hold.lock()
    defer {
      library.hold.unlock()
      library.coordinator.settle()
    }
    let context = library.coordinator.newContext()
    for id in 0..<saved / 10 {
      for id in id * 10..<id * 10 + 10 {
        context.insert(Review(id: id, text: "saved"))
        context.insert(Slip(id: id))
      }
      try context.save()
    }
    let shown = try #require(library.list.value.first)
    library.rows.reads.withLock { $0 = 0 }
    Slip.looks.withLock { $0 = 0 }
    try library.view.performAndWait { view in
      for stars in 1...changes {
        try view.update(Review.self, id: shown.id) { $0.stars = stars }
        // What is shown is one state of the store at any time.
        #expect(library.list.value.count == saved + 1 && library.list.value.first?.stars == stars)
      }
    }
    return Work(reads: library.rows.reads.withLock { $0 }, keys: Slip.looks.withLock { $0 })
  }

  @Test("Each change in a block costs the same, however much others have saved before it", arguments: [false, true])
  func savedBefore(isIndirect: Bool) throws {
    let few = try work(changes: 5, saved: 100, isIndirect: isIndirect)
    let many = try work(changes: 25, saved: 100, isIndirect: isIndirect)
    let fewAfterMore = try work(changes: 5, saved: 1_000, isIndirect: isIndirect)
    let manyAfterMore = try work(changes: 25, saved: 1_000, isIndirect: isIndirect)
    #expect(manyAfterMore - fewAfterMore == many - few)
    // Nobody looks at the keys for each change.
    #expect(manyAfterMore.keys == fewAfterMore.keys && fewAfterMore.keys >= 1_000)
  }

  @Test("What is saved while a block runs is shown in it, also what was announced before the block looked")
  func savedMeanwhile() throws {
    let library = try Library()
    let (coordinator, view, list) = (library.coordinator, library.view, library.list)
    let others = PersistentStoreCoordinator(model: coordinator.model)
    try others.attach(library.rows.inner, configuration: "")
    let key = EntityKey(try coordinator.model.entity(Review.self), try Review.storedKey(of: 1))
    library.hold.lock()
    defer {
      library.hold.unlock()
      coordinator.settle()
    }
    func expect(_ text: String, after stars: Int) throws {
      try view.update(Review.self, id: -1) { $0.stars = stars }
      #expect(list.value.last?.text == text)
    }
    func save(_ text: String, _ context: BackgroundContext) throws {
      context.insert(Review(id: 1, text: text))
      try context.save()
    }
    try view.performAndWait { _ in
      try expect("", after: 1)
      try save("a", coordinator.newContext())
      try expect("a", after: 2)
      try coordinator.announce([key]) {
        try expect("a", after: 3)
        // The store has it before whoever announced it goes on.
        try save("b", others.newContext())
        try expect("b", after: 4)
        try save("c", others.newContext())
        try expect("c", after: 5)
      }
      try expect("c", after: 6)
      try save("d", coordinator.newContext())
      try expect("d", after: 7)
    }
  }
}

/// Counts how often its keys are looked at, in one test at a time.
private struct Slip: PersistentEntity, Equatable {
  let id: Int

  static let looks = Locked(0)
  static let persistentProperties: [PersistentProperty<Slip>] = [.init("id", \.id)]
  init(from row: inout RowReader) throws { self.init(id: try row.read()) }
  func write(to row: inout RowWriter) throws { try row.write(id) }
  init(id: Int) { self.id = id }

  static func id(storedKey: StoredValue) throws -> Int {
    looks.withLock { $0 += 1 }
    return try Int(storedValue: storedKey)
  }
}
