import Concord
import ConcordTestHeap
import Foundation
import Testing

@testable import ConcordPersistence

#if Persistence
  import GRDB
  import GRDBSQLite
#endif

@Suite("Saves of large owners")
struct LargeOwnerTests {
  private func shelf(_ count: Int) -> Book {
    var book = Book(id: "shelf", title: "A", author: Author(id: "a", name: "A"))
    book.reviews = (0..<count).map { Review(id: $0, text: "") }
    return book
  }

  /// The number of rows that a save of a changed owner reads.
  private func reads(_ count: Int, _ change: (inout Book) -> Void) throws -> Int {
    let rows = CountingStore()
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    try coordinator.attach(rows, configuration: "")
    let context = BackgroundContext(parent: RootContext(parent: coordinator) { Issue.record($0) })
    context.insert(shelf(count))
    try context.save()
    // Another root reads what is stored, with nothing pending.
    coordinator.settle()
    let root = RootContext(parent: coordinator) { Issue.record($0) }
    while try coordinator.newContext().count(FetchDescriptor<Book>()) == 0 { Thread.sleep(forTimeInterval: 0.01) }
    let other = BackgroundContext(parent: root)
    try other.update(Book.self, id: "shelf", change)
    rows.reads.withLock { $0 = 0 }
    try other.save()
    let found = rows.reads.withLock { $0 }
    try root.writePendingChanges()
    var wanted = shelf(count)
    change(&wanted)
    #expect(try coordinator.newContext().find(Book.self, id: "shelf") == wanted)
    return found
  }

  @Test(
    "A save of an owner whose title changes, or to which one is appended, asks for no entity that stood in it before")
  func reads() throws {
    func rename(_ book: inout Book) { book.title = "B" }
    func append(_ book: inout Book) { book.reviews.append(Review(id: -1, text: "new")) }
    #expect(try reads(20, rename) == reads(300, rename))
    #expect(try reads(20, append) == reads(300, append))
  }

  @Test("The links of an owner to entities with numbers take no more than these")
  func heap() async {
    await #expect(processExitsWith: .success) {
      let count = 400_000
      let (entity, owner) = (try libraryModel().entity(Book.self), LargeOwnerTests().shelf(count))
      let before = heapInUse()
      let row = try entity.row(of: owner, stamp: 1)
      let bytes = heapInUse() - before
      // A sanitizer's allocator cannot be asked.
      #expect(before == 0 || (count * 7..<count * 12).contains(bytes), "\(bytes) bytes")
      #expect(row.collections.map(\.count).max() == count)
    }
  }

  #if Persistence
    @Test("A position that changes is written, and no other one")
    func positions() throws {
      /// The number of bytes by which the log of a file grows.
      func written(_ count: Int, _ change: (inout Book) -> Void) throws -> Int {
        try withFolder { folder in
          let url = folder.appending(path: "test.sqlite")
          let store = try SQLiteStore(url: url, entities: libraryModel().entities)
          let coordinator = PersistentStoreCoordinator(model: try libraryModel())
          try coordinator.attach(store, configuration: "")
          let context = coordinator.newContext()
          context.insert(shelf(count))
          try context.save()
          try store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
          try context.update(Book.self, id: "shelf", change)
          try context.save()
          var wanted = shelf(count)
          change(&wanted)
          #expect(try coordinator.newContext().find(Book.self, id: "shelf") == wanted)
          return try #require(FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int)
        }
      }
      func replace(_ book: inout Book) { book.reviews.swapAt(1, book.reviews.count - 1) }
      let (few, many) = (try written(50, replace), try written(3_000, replace))
      #expect(few > 0 && many <= few * 3, "\(few), \(many)")
    }

    @Test("A save of a renamed owner, or of one to which one is appended, takes as many steps for few as for many")
    func steps() throws {
      /// The number of instructions that SQLite executes for the save alone.
      func steps(_ count: Int, _ change: (inout Book, EntityLinks<Book>) throws -> Void) throws -> Int {
        try withFolder { folder in
          let store = try SQLiteStore(url: folder.appending(path: "test.sqlite"), entities: libraryModel().entities)
          let coordinator = PersistentStoreCoordinator(model: try libraryModel())
          try coordinator.attach(store, configuration: "")
          let context = coordinator.newContext()
          context.insert(shelf(count))
          try context.save()
          try context.update(Book.self, id: "shelf", leavingOut: \.reviews) { try change(&$0, $1) }
          let steps = Locked(0)
          func setHandler(_ isOn: Bool) {
            store.pool.writeWithoutTransaction { db in
              sqlite3_progress_handler(
                db.sqliteConnection, isOn ? 1 : 0,
                { counter in
                  counter.map { Unmanaged<Locked<Int>>.fromOpaque($0).takeUnretainedValue().withLock { $0 += 1 } }
                  return 0
                }, Unmanaged.passUnretained(steps).toOpaque())
            }
          }
          setHandler(true)
          try context.save()
          setHandler(false)
          return steps.withLock { $0 }
        }
      }
      func rename(_ book: inout Book, _ links: EntityLinks<Book>) { book.title = "B" }
      let renames = (few: try steps(50, rename), many: try steps(3_000, rename))
      #expect(renames.few > 0 && renames.many <= renames.few * 2, "\(renames)")
      func append(_ book: inout Book, _ links: EntityLinks<Book>) throws {
        try links.append(Review(id: -1, text: "new"), to: \.reviews)
      }
      let appends = (few: try steps(50, append), many: try steps(3_000, append))
      #expect(appends.few > 0 && appends.many <= appends.few * 2, "\(appends)")
    }

    @Test("Positions with gaps, as another program leaves them, are closed by the next change")
    func gaps() throws {
      for kind in 0..<4 {
        try withFolder { folder in
          let store = try SQLiteStore(url: folder.appending(path: "test.sqlite"), entities: libraryModel().entities)
          let coordinator = PersistentStoreCoordinator(model: try libraryModel())
          try coordinator.attach(store, configuration: "")
          let context = coordinator.newContext()
          context.insert(shelf(6))
          try context.save()
          try store.pool.write { db in
            try db.execute(sql: "DELETE FROM Book_reviews WHERE _position = 2")
            try db.execute(sql: "UPDATE Book SET reviews = 5")
          }
          var ids = [0, 1, 3, 4, 5]
          try context.update(Book.self, id: "shelf") { book in
            #expect(book.reviews.map(\.id) == ids)
            switch kind {
            case 0: book.reviews.append(Review(id: 9, text: ""))
            case 1: book.reviews[3] = Review(id: 9, text: "")
            case 2: book.reviews.removeLast()
            default: book.reviews.swapAt(0, 4)
            }
            ids = book.reviews.map(\.id)
          }
          try context.save()
          #expect(try coordinator.newContext().find(Book.self, id: "shelf")?.reviews.map(\.id) == ids)
          let positions = try store.pool.read {
            try Int.fetchAll($0, sql: "SELECT _position FROM Book_reviews ORDER BY 1")
          }
          #expect(positions == Array(0..<ids.count))
        }
      }
    }

    @Test(
      "What another program has put at other positions stays, and is not overwritten by a save that has not read it")
    func otherPositions() throws {
      try withFolder { folder in
        let store = try SQLiteStore(url: folder.appending(path: "test.sqlite"), entities: libraryModel().entities)
        let coordinator = PersistentStoreCoordinator(model: try libraryModel())
        try coordinator.attach(store, configuration: "")
        let context = coordinator.newContext()
        context.insert(shelf(6))
        context.insert(Review(id: 9, text: ""))
        try context.save()
        func change(_ other: String, _ body: (inout [Review]) -> Void) throws -> [Int]? {
          try context.update(Book.self, id: "shelf") { body(&$0.reviews) }
          try store.pool.write { try $0.execute(sql: other) }
          try context.save()
          return try coordinator.newContext().find(Book.self, id: "shelf")?.reviews.map(\.id)
        }
        let appended = try change("UPDATE Book_reviews SET reviews = 9 WHERE _position = 1") {
          $0.append(Review(id: 7, text: ""))
        }
        #expect(appended == [0, 9, 2, 3, 4, 5, 7])
        // The same position: the later stamp wins, with the whole collection.
        let replaced = try change("UPDATE Book_reviews SET reviews = 2 WHERE _position = 0") {
          $0[0] = Review(id: 8, text: "")
        }
        #expect(replaced == [8, 9, 2, 3, 4, 5, 7])
        // As many as it has read, or none of it is known.
        let grown = try change("INSERT INTO Book_reviews (_owner, _position, reviews) VALUES ('shelf', 7, 2)") {
          $0.append(Review(id: 10, text: ""))
        }
        #expect(grown == [8, 9, 2, 3, 4, 5, 7, 10])
      }
    }

    @Test("Elements that another program has left without their owner are not those of a new one with its id")
    func left() throws {
      for count in [0, 2, 6] {
        try withFolder { folder in
          let store = try SQLiteStore(url: folder.appending(path: "test.sqlite"), entities: libraryModel().entities)
          let coordinator = PersistentStoreCoordinator(model: try libraryModel())
          try coordinator.attach(store, configuration: "")
          let context = coordinator.newContext()
          context.insert(shelf(4))
          try context.save()
          try store.pool.write { try $0.execute(sql: "DELETE FROM Book") }
          context.insert(shelf(count))
          try context.save()
          #expect(try coordinator.newContext().find(Book.self, id: "shelf") == shelf(count))
          let left = try store.pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM Book_reviews") }
          #expect(left == count)
        }
      }
    }
  #endif

  @Test("Contexts that change an owner at once leave what each of them changed", arguments: StoreKind.allCases)
  func twoContexts(_ kind: StoreKind) throws {
    try kind.withCoordinator(try libraryModel()) { coordinator in
      let (first, second) = (coordinator.newContext(), coordinator.newContext())
      first.insert(shelf(30))
      try first.save()
      try first.update(Book.self, id: "shelf") { $0.title = "B" }
      try second.update(Book.self, id: "shelf") { $0.reviews[3] = Review(id: 100, text: "new") }
      try second.save()
      try first.save()
      let stored = try #require(try coordinator.newContext().find(Book.self, id: "shelf"))
      #expect(stored.title == "B" && stored.reviews[3].id == 100 && stored.reviews.count == 30)
      // The later change of the reviews is taken, without the review that another context has removed.
      try second.delete(Review.self, id: 5)
      try first.update(Book.self, id: "shelf") { $0.reviews.append(Review(id: 200, text: "")) }
      try second.save()
      try first.save()
      let last = try #require(try coordinator.newContext().find(Book.self, id: "shelf"))
      #expect(last.reviews.last?.id == 200 && !last.reviews.contains { $0.id == 5 })
    }
  }

  /// The number of rows that an update reads and its save reads, with what is stored then.
  private func work(
    _ count: Int, _ change: (BackgroundContext) throws -> Bool
  ) throws -> (reads: Int, book: Book?) {
    let rows = CountingStore()
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    try coordinator.attach(rows, configuration: "")
    let context = coordinator.newContext()
    context.insert(shelf(count))
    try context.save()
    coordinator.settle()
    rows.reads.withLock { $0 = 0 }
    #expect(try change(context))
    try context.save()
    let reads = rows.reads.withLock { $0 }
    return (reads, try coordinator.newContext().find(Book.self, id: "shelf"))
  }

  @Test("An update that leaves nothing out reads each entity of the owner once, whatever it changes")
  func leavingNothingOut() throws {
    let (few, many) = (20, 500)
    for change in [{ $0.title = "B" }, { $0.reviews.append(Review(id: -1, text: "new")) }] as [(inout Book) -> Void] {
      func reads(_ count: Int) throws -> Int {
        let (reads, stored) = try work(count) { try $0.update(Book.self, id: "shelf", change) }
        var book = shelf(count)
        change(&book)
        #expect(stored == book)
        return reads
      }
      #expect(try reads(many) - reads(few) == many - few)
    }
  }

  @Test("An update that leaves a collection out reads none of its entities, and changes its links")
  func leavingOut() throws {
    func expect(
      _ change: @escaping (inout Book, EntityLinks<Book>) throws -> Void, is wanted: (inout Book) -> Void
    ) throws {
      func work(_ count: Int) throws -> Int {
        let (reads, stored) = try self.work(count) { context in
          try context.update(Book.self, id: "shelf", leavingOut: \.reviews) { book, links in
            let shown = try links.count(of: \.reviews)
            #expect(book.reviews.isEmpty && shown == count)
            try change(&book, links)
          }
        }
        var book = shelf(count)
        wanted(&book)
        #expect(stored == book)
        return reads
      }
      let few = try work(20)
      #expect(try work(500) == few)
      #expect(few <= 6, "\(few) rows were read")
    }
    try expect({ book, _ in book.title = "B" }, is: { $0.title = "B" })
    try expect({ book, _ in book.author.name = "B" }, is: { $0.author.name = "B" })
    let review = Review(id: -1, text: "new")
    try expect({ try $1.append(review, to: \.reviews) }, is: { $0.reviews.append(review) })
    try expect({ try $1.insert(review, at: 3, in: \.reviews) }, is: { $0.reviews.insert(review, at: 3) })
    try expect(
      { book, links in
        book.title = "B"
        let isRemoved = try links.remove(4, from: \.reviews)
        let isOtherRemoved = try links.remove(-4, from: \.reviews)
        let ids = try links.ids(of: \.reviews)
        #expect(isRemoved && !isOtherRemoved && ids.prefix(5) == [0, 1, 2, 3, 5])
      },
      is: { book in
        book.title = "B"
        book.reviews.remove(at: 4)
      })
  }

  @Test("A collection that is left out cannot be set, and nothing but a collection can be left out")
  func leftOutIsNotSet() throws {
    let coordinator = PersistentStoreCoordinator(model: try libraryModel())
    try coordinator.attach(MemoryStore(name: "memory"), configuration: "")
    let context = coordinator.newContext()
    var book = shelf(3)
    book.excerpts = [Review(id: 0, text: "")]
    context.insert(book)
    try context.save()
    #expect(throws: StoreError.self) {
      try context.update(Book.self, id: "shelf", leavingOut: \.reviews) { book, _ in
        book.reviews.append(Review(id: 9, text: ""))
      }
    }
    #expect(throws: StoreError.self) {
      try context.update(Book.self, id: "shelf", leavingOut: \.excerpts) { book, _ in book.excerpts = nil }
    }
    #expect(throws: StoreError.self) {
      try context.update(Book.self, id: "shelf", leavingOut: \.title) { book, _ in book.title = "B" }
    }
    #expect(throws: StoreError.self) {
      try context.update(Book.self, id: "shelf", leavingOut: \.tags) { _, links in
        try links.append(Review(id: 9, text: ""), to: \.reviews)
      }
    }
    #expect(!context.hasChanges)
    #expect(try !context.update(Book.self, id: "none", leavingOut: \.reviews) { _, _ in })
  }
}
