import Concord
import ConcordModel
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Readings that are run again")
struct RepeatedReadingTests {
  private let model: Model
  private let store = RepeatingStore()
  private let coordinator: PersistentStoreCoordinator
  private let view: ViewContext
  private let errors = Locked<[any Error]>([])

  init() throws {
    model = try processModel()
    coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.attach(store, configuration: "")
    view = ViewContext(parent: coordinator, delivery: .immediate) { [errors] error in
      errors.withLock { $0.append(error) }
    }
  }

  private func key(_ id: Int) throws -> EntityKey { EntityKey(try model.entity(Entry.self), .integer(Int64(id))) }

  private func save(_ change: (BackgroundContext) throws -> Void) throws {
    let context = BackgroundContext(parent: coordinator)
    try change(context)
    try context.save()
    coordinator.settle()
  }

  @Test("A live query shows each commit as it is, though every reading of its update is run twice")
  func liveQuery() throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    print("repeated readings: seed \(seed)")
    var random = SeededNumbers(seed: seed)
    let (all, first) = (
      try view.query(
        FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.text, comparator: .lexical), SortDescriptor(\.id)])),
      try view.query(FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.id)], fetchLimit: 3))
    )
    let shown = Locked<[[Entry]]>([])
    let subscription = all.observe { entries in shown.withLock { $0.append(entries) } }
    var expected: [Int: Entry] = [:]
    for round in 0..<100 {
      try save { context in
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let id = Int.random(in: 0..<8, using: &random)
          if Bool.random(using: &random), expected[id] != nil {
            try context.delete(Entry.self, id: id)
            expected[id] = nil
          } else {
            let entry = Entry(id: id, text: "\(Int.random(in: 0..<5, using: &random)) of \(round)")
            context.insert(entry)
            expected[id] = entry
          }
        }
      }
      let sorted = expected.values.sorted { ($0.text, $0.id) < ($1.text, $1.id) }
      #expect(all.value == sorted, "round \(round)")
      #expect(first.value == Array(expected.values.sorted { $0.id < $1.id }.prefix(3)), "round \(round)")
      #expect(shown.withLock { $0.last } == sorted, "round \(round)")
    }
    // A save may take back what it has inserted, and changes nothing then.
    #expect(store.repeats.withLock { $0 } > 50)
    // Nobody was told of a state that was none.
    #expect(shown.withLock { $0.count } <= 101)
    #expect(errors.withLock { $0.isEmpty })
    withExtendedLifetime(subscription) {}
  }

  @Test("The error handler is told of a row that cannot be read once, though the reading is run twice")
  func errorsOnce() throws {
    try save { $0.insert(Entry(id: 1, text: "a")) }
    let shown = try #require(try view.find(Entry.self, id: 1))
    try store.write(origin: nil) { writing in
      let old = try #require(try writing.row(of: key(1)))
      var row = old
      row.values[1] = .integer(7)
      row.stamp += 1
      try writing.update(row, replacing: old, for: key(1))
    }
    coordinator.settle()
    #expect(errors.withLock { $0.count } == 1, "\(errors.withLock { $0 })")
    #expect(shown.value.text == "a")
  }

  @Test("What the store cannot read at the moment is shown later, whatever kind of error says so")
  func readLater() throws {
    try save { context in for id in 1...2 { context.insert(Entry(id: id, text: "a")) } }
    let shown = try (1...2).map { try #require(try view.find(Entry.self, id: $0)) }
    for (number, error) in [
      StoreError.locked(store: "s"), .diskFull(store: "s"), .newerStore(store: "s"),
      .storeFailed(store: "s", reason: ""),
    ].enumerated() {
      store.errors.withLock { $0 = [(try? key(2)): error] }
      try save { context in for id in 1...2 { context.insert(Entry(id: id, text: "\(number)")) } }
      store.errors.withLock { $0 = [:] }
      let end = Date(timeIntervalSinceNow: 10)
      while shown.contains(where: { $0.value.text != "\(number)" }), Date() < end { usleep(5000) }
      #expect(shown.map(\.value.text) == ["\(number)", "\(number)"], "\(error)")
    }
  }

  @Test("Rows of a store that was detached are no hindrance to preparing others, and are found missing when asked for")
  func detached() throws {
    let progress = try model.entity(Progress.self)
    try save { $0.insert(Entry(id: 1, text: "a")) }
    try store.read { base in
      let routed = RoutedSession(reading: [try model.entity(Entry.self): base], outboxes: [:])
      let gone = EntityKey(progress, .integer(1))
      #expect(try routed.unannouncedKeys(preparing: [key(1), gone]).isEmpty)
      #expect(try routed.row(of: key(1))?.values.last == .text("a"))
      #expect(throws: StoreError.self) { try routed.row(of: gone) }
    }
  }
}

/// Runs the closures of readings twice that may be run again, as a store does that has lost its connection, and lets rows be unreadable.
private final class RepeatingStore: RowStore {
  let inner = MemoryStore(name: "repeating")
  let repeats = Locked(0)
  let errors = Locked<[EntityKey?: StoreError]>([:])
  var name: String { inner.name }

  func read<R>(_ body: (any RowReading) throws -> R) throws -> R {
    let errors = errors.withLock { $0 }
    return try inner.read { base in
      let reading = Reading(base, errors)
      let result = Result { try body(reading) }
      guard reading.isAllowed else { return try result.get() }
      repeats.withLock { $0 += 1 }
      return try body(Reading(base, errors))
    }
  }

  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R {
    try inner.write(origin: origin, body)
  }
  func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation {
    inner.observeCommits(body)
  }
  func settle() { inner.settle() }
  func close() throws { try inner.close() }

  private final class Reading: RowReading {
    private let base: any RowReading
    private let errors: [EntityKey?: StoreError]
    var isAllowed = false

    init(_ base: any RowReading, _ errors: [EntityKey?: StoreError]) { (self.base, self.errors) = (base, errors) }

    private func check(_ key: EntityKey) throws { if let error = errors[key] { throw error } }

    func row(of key: EntityKey) throws -> StoredRow? {
      try check(key)
      return try base.row(of: key)
    }
    func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
      try check(key)
      return try base.withRow(of: key, body)
    }
    func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws { try base.rows(query, body) }
    func count(_ query: RowQuery) throws -> Int { try base.count(query) }
    func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
      try base.referrers(to: key, in: entity)
    }
    func mayReadAgain() { isAllowed = true }
  }
}

// Not Foundation's.
private typealias Progress = ConcordTestShared.Progress
