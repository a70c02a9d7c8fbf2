import Concord
import ConcordLogging
import Dispatch
import ConcordTestLogging
import Foundation
import Logging
import Testing

@Suite("What a store does can be read in the log")
struct SwiftLogLoggerTests {
  private struct Book: Identifiable, Equatable {
    var id: String
    var title = "A Room with a View"
  }

  private struct Selfish: Aggregate {
    var id: String
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.self)] }
  }

  private let lines = CapturingLogHandler.Lines()

  private func store(level: Logger.Level = .debug, loggerLevel: Logger.Level = .trace) -> EntityStore {
    let lines = lines
    var logger = Logger(label: "concord.tests") { _ in CapturingLogHandler(lines: lines) }
    logger.logLevel = loggerLevel
    return EntityStore(delivery: .immediate, logger: SwiftLogLogger(logger, level: level))
  }

  @Test("A stored entity is logged with its type and id")
  func stored() {
    let store = store()
    let book = store.store(Book(id: "1"))
    #expect(
      lines.all == [.init(level: .debug, message: "stored", metadata: ["entity": "Book", "id": "1"])])
    withExtendedLifetime(book) {}
  }

  @Test("A stale write is logged with both stamps")
  func discarded() {
    let store = store()
    let book = store.store(Book(id: "1"), modifiedAt: 20)
    store.store(Book(id: "1", title: "Older"), modifiedAt: 10)
    #expect(
      lines.with(message: "discarded as stale").map(\.metadata)
        == [["entity": "Book", "id": "1", "stamp": "10.0", "storedStamp": "20.0"]])
    withExtendedLifetime(book) {}
  }

  @Test("An update that changes the id is logged as a warning")
  func refused() {
    let store = store()
    let book = store.store(Book(id: "1"))
    #expect(store.update(Book.self, id: "1") { $0.id = "2" } == false)
    let refusals = lines.with(message: "refused an update that changes the id")
    #expect(refusals.map(\.level) == [.warning])
    #expect(refusals.map(\.metadata) == [["entity": "Book", "id": "1", "newID": "2"]])
    withExtendedLifetime(book) {}
  }

  @Test("What is refused for another reason is logged as a warning, with the reason")
  func refusedOtherwise() {
    let store = store()
    #expect(!store.update(Book.self, id: "1") { $0.title = "" })
    #expect(!store.update(named: AliasKey<Book>("favourite")) { $0.title = "" })
    #expect(
      lines.all == [
        .init(
          level: .warning, message: "refused a write, or a part of it",
          metadata: ["entity": "Book", "id": "1", "reason": "notStored"]),
        .init(
          level: .warning, message: "refused an update of an alias that names nothing",
          metadata: ["entity": "Book", "alias": "favourite"]),
      ])
  }

  @Test("A stamp ahead of the clock is logged as a warning when a write without one meets it")
  func ahead() {
    let store = store()
    let book = store.store(Book(id: "1"), modifiedAt: 1e17)
    store.store(Book(id: "1", title: "Howards End"))
    let ahead = lines.with(message: "took a write without a stamp: the stored stamp is ahead of the clock")
    #expect(ahead.map(\.level) == [.warning])
    #expect(ahead.map { $0.metadata["storedStamp"] } == ["1e+17"])
    #expect(ahead.compactMap { $0.metadata["clock"] }.count == 1)
    withExtendedLifetime(book) {}
  }

  @Test("A relation that is refused is logged as a warning, with the reason")
  func refusedRelation() {
    let store = store()
    let part = store.store(Selfish(id: "1"))
    let refusals = lines.with(message: "refused a write, or a part of it")
    #expect(Set(refusals.map(\.level)) == [.warning])
    #expect(Set(refusals.map(\.metadata)) == [["entity": "Selfish", "id": "1", "reason": "relationToItself"]])
    withExtendedLifetime(part) {}
  }

  #if DEBUG
    private struct Shelf: Identifiable {
      var id: String
      var book: Book
    }

    @Test("In a debug build an entity in no relation is logged as a warning, with its path and what to write")
    func unrelated() {
      let store = store()
      let book = store.store(Book(id: "1"))
      store.store(Shelf(id: "1", book: Book(id: "2")))
      let warnings = lines.with(message: "holds an entity that is not followed")
      #expect(warnings.map(\.level) == [.warning])
      #expect(warnings.first?.metadata["entity"] == "Shelf" && warnings.first?.metadata["path"] == "book")
      #expect(warnings.first?.metadata["advice"]?.hasPrefix("declare 'Shelf' '@Entity'") == true)
      withExtendedLifetime(book) {}
    }
  #endif

  @Test("A stamp that is too large to be exact is logged as a warning")
  func imprecise() {
    let store = store()
    let book = store.store(Book(id: "1"), modifiedAt: 0x1p60)
    let warnings = lines.with(message: "received a stamp too large to be exact")
    #expect(warnings.map(\.level) == [.warning])
    #expect(warnings.map(\.metadata) == [["entity": "Book", "id": "1", "stamp": "\(0x1p60)"]])
    withExtendedLifetime(book) {}
  }

  @Test("A write that waits long for another thread's transaction is logged as a warning, while it waits")
  func stalled() {
    let (store, lines) = (store(), lines)
    let book = store.store(Book(id: "1"))
    store._setPatience(.milliseconds(20))
    let writer = DispatchGroup()
    store.transaction { _ in
      writer.enter()
      Thread.detachNewThread {
        store.update(Book.self, id: "1") { $0.title = "Where Angels Fear to Tread" }
        writer.leave()
      }
      for _ in 0..<60_000 where lines.with(message: "waits for another thread's transaction").isEmpty { usleep(1_000) }
    }
    writer.wait()
    let warnings = lines.with(message: "waits for another thread's transaction")
    #expect(warnings.map(\.level) == [.warning])
    #expect(warnings.map { $0.metadata.keys.sorted() } == [["duration"]])
    #expect(book.value.title == "Where Angels Fear to Tread")
  }

  @Test("An alias is logged when it is set and when it goes, with its name")
  func aliases() {
    let store = store()
    let favourite = AliasKey<Book>("favourite")
    store.store(Book(id: "1"), named: favourite)
    store.removeAlias(named: favourite)
    let metadata = ["entity": "Book", "alias": "favourite"]
    #expect(lines.with(message: "registered an alias").map(\.metadata) == [metadata])
    #expect(lines.with(message: "unregistered an alias").map(\.metadata) == [metadata])
  }

  @Test("A released entity is logged")
  func released() {
    let store = store()
    var book: EntityObserver<Book>? = store.store(Book(id: "1"))
    #expect(book?.value.id == "1")
    #expect(lines.with(message: "released").isEmpty)
    book = nil
    #expect(lines.with(message: "released").map(\.metadata) == [["entity": "Book", "id": "1"]])
  }

  @Test("The lines have the level that was asked for", arguments: [Logger.Level.trace, .info])
  func level(level: Logger.Level) {
    store(level: level).store(Book(id: "1"))
    #expect(lines.all.isEmpty == false)
    #expect(lines.all.allSatisfy { $0.level == level })
  }

  @Test("A logger of a higher level writes nothing")
  func silence() {
    store(level: .debug, loggerLevel: .info).store(Book(id: "1"))
    #expect(lines.all.isEmpty)
  }
}
