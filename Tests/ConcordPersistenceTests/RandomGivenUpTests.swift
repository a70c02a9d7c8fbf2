import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// Its code is unique, and its note names the save that wrote it last.
private struct Ticket: PersistentEntity, Hashable {
  let id: Int
  var code: String
  var note: Int

  static let persistentProperties: [PersistentProperty<Ticket>] = [
    .init("id", \.id), .init("code", \.code, .unique), .init("note", \.note),
  ]
  init(from row: inout RowReader) throws { (id, code, note) = (try row.read(), try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(code)
    try row.write(note)
  }
  init(id: Int, code: String, note: Int) { (self.id, self.code, self.note) = (id, code, note) }
}

private struct Purse: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var note: Int
  var tickets: [Ticket]

  static let persistentProperties: [PersistentProperty<Purse>] = [
    .init("id", \.id), .init("note", \.note), .init("tickets", \.tickets),
  ]
  init(from row: inout RowReader) throws { (id, note, tickets) = (try row.read(), try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(note)
    try row.write(tickets)
  }
  init(id: Int, note: Int, tickets: [Ticket] = []) { (self.id, self.note, self.tickets) = (id, note, tickets) }
}

/// Each save inserts one, by which its report is known.
private struct Mark: PersistentEntity, Equatable {
  let id: Int
  static let persistentProperties: [PersistentProperty<Mark>] = [.init("id", \.id)]
  init(from row: inout RowReader) throws { id = try row.read() }
  func write(to row: inout RowWriter) throws { try row.write(id) }
  init(id: Int) { self.id = id }
}

@Suite("Saves that are given up in the background, made at random")
struct RandomGivenUpTests {
  /// An entity as a save was to store it, or as it was told or is stored.
  private struct Wanted: Equatable, CustomStringConvertible {
    /// The number of the save that wrote it last; `nil` if it is deleted.
    var note: Int?
    /// The code of a ticket.
    var code = ""
    /// The tickets of a purse, which are entities of their own.
    var tickets: [Int] = []
    /// Whether the save changed more than the note: what it did not change stays as it is, whatever becomes of it.
    var isEdited = true

    var description: String { note.map { "note \($0), '\(code)', \(tickets)" } ?? "deleted" }

    init(_ entity: (any PersistentEntity)?) {
      switch entity {
      case let ticket as Ticket: (note, code) = (ticket.note, ticket.code)
      case let purse as Purse: (note, tickets) = (purse.note, purse.tickets.map(\.id))
      case let mark as Mark: note = mark.id
      default: note = nil
      }
    }

    static func == (a: Wanted, b: Wanted) -> Bool { a.note == b.note && a.hasContents(of: b) }

    func hasContents(of other: Wanted) -> Bool { code == other.code && tickets == other.tickets }
  }

  private func run(_ strategy: StrategyKind, seed: UInt64) async throws -> (givenUp: Int, stored: Int) {
    let comment: Comment = "CONCORD_RANDOM_SEED=\(seed): \(strategy)"
    var random = SeededGenerator(seed: seed)
    let reports = Locked<[BackgroundSaveError]>([])
    let container = strategy.container(try Model("Purses", entities: [Ticket.self, Purse.self, Mark.self])) { error in
      if let error = error as? BackgroundSaveError { reports.withLock { $0.append(error) } }
    }
    let (store, gate) = try GateStore.attach(to: container)
    defer { try? container.detach(persistentStore: store) }
    let others = BackgroundContext(parent: container.persistentStoreCoordinator)
    for id in 0..<3 { others.insert(Purse(id: id, note: -1, tickets: [Ticket(id: id, code: "\(id)", note: -1)])) }
    try others.save()

    let view = container.viewContext
    let observed = try view.query(FetchDescriptor<Ticket>(sortBy: [SortDescriptor(\.id)]))
    var initial: [String: Wanted] = [:]
    for id in 0..<3 {
      initial["Ticket \(id)"] = Wanted(Ticket(id: id, code: "\(id)", note: -1))
      initial["Purse \(id)"] = Wanted(Purse(id: id, note: -1, tickets: [Ticket(id: id, code: "", note: -1)]))
    }
    gate.closeGate()
    /// What each save was to do, by the names of the entities.
    var saves: [[String: Wanted]] = []
    for number in 0..<Int.random(in: 2...10, using: &random) {
      var wanted = ["Mark \(number)": Wanted(Mark(id: number))]
      view.insert(Mark(id: number))
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let id = Int.random(in: 0..<8, using: &random)
        let ticket = try view.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.id == id })).first
        let isInPurse = try view.fetch(FetchDescriptor<Purse>()).contains { $0.tickets.contains { $0.id == id } }
        switch Int.random(in: 0..<6, using: &random) {
        case 0..<3 where wanted["Ticket \(id)"] == nil:
          // Of few codes, so that many are taken.
          let new = Ticket(id: id, code: "\(Int.random(in: 0..<6, using: &random))", note: number)
          if ticket != nil {
            try view.update(Ticket.self, id: id) { ($0.code, $0.note) = (new.code, new.note) }
          } else {
            view.insert(new)
          }
          wanted["Ticket \(id)"] = Wanted(new)
          wanted["Ticket \(id)"]?.isEdited = ticket?.code != new.code
        case 3 where ticket != nil && wanted["Ticket \(id)"] == nil && !isInPurse:
          try view.delete(Ticket.self, id: id)
          wanted["Ticket \(id)"] = Wanted(nil)
        default:
          let purse = Int.random(in: 0..<3, using: &random)
          let tickets = try view.fetch(FetchDescriptor<Ticket>()).filter { _ in Bool.random(using: &random) }
            .sorted { $0.id < $1.id }
          // A ticket that this save has taken out of a purse must not be deleted by it.
          if wanted["Purse \(purse)"] != nil { continue }
          let before = try view.fetch(FetchDescriptor<Purse>()).first { $0.id == purse }
          try view.update(Purse.self, id: purse) { ($0.note, $0.tickets) = (number, tickets) }
          wanted["Purse \(purse)"] = Wanted(Purse(id: purse, note: number, tickets: tickets))
          wanted["Purse \(purse)"]?.isEdited = before?.tickets.map(\.id) != tickets.map(\.id)
        }
      }
      try view.save()
      saves.append(wanted)
    }
    gate.openGate()
    try await container.flush()
    container.persistentStoreCoordinator.settle()

    // Each is told once, whole, and with its values.
    let context = BackgroundContext(parent: container.persistentStoreCoordinator)
    let marks = Set(try context.fetch(FetchDescriptor<Mark>()).map(\.id))
    let isTold = try await eventually { reports.withLock { $0.count } >= saves.count - marks.count }
    #expect(isTold, comment)
    var givenUp: Set<Int> = []
    for report in reports.withLock({ $0 }) {
      let told = Dictionary(
        report.changes.map { change in
          ("\(change.key.entity.name) \(change.key.id)", change.kind == .deleted ? Wanted(nil) : Wanted(change.object))
        }, uniquingKeysWith: { $1 })
      let number = try #require(saves.indices.first { told["Mark \($0)"] != nil }, comment)
      #expect(givenUp.insert(number).inserted && !report.isPending, comment)
      #expect(told.count == report.changes.count, comment)
      let wrong = Set(told.keys).union(saves[number].keys).filter { key in
        guard let told = told[key], let done = saves[number][key] else { return true }
        if told.note != done.note { return true }
        // What it did not change it had from the stores, or from an earlier save; where a ticket was deleted in between, as it is shown.
        let isDeleted = saves[...number].contains { $0.values.contains { $0.note == nil } }
        let earlier = [initial[key]] + saves[..<(isDeleted ? saves.count : number)].map { $0[key] }
        if told.hasContents(of: done) { return false }
        return done.isEdited || !earlier.contains { $0?.hasContents(of: told) ?? false }
      }.map { "\($0): told \(told[$0].map { "\($0)" } ?? "-"), done \(saves[number][$0].map { "\($0)" } ?? "-")" }
      #expect(wrong.isEmpty, "\(comment), save \(number) of \(saves): \(report.error)")
    }
    #expect(givenUp == Set(saves.indices).subtracting(marks), comment)

    // Of the others all is stored, of each property what was written last.
    var wanted = initial
    for number in saves.indices where !givenUp.contains(number) {
      for (key, done) in saves[number] {
        if done.isEdited { wanted[key] = done } else { wanted[key]?.note = done.note }
      }
    }
    var stored: [String: Wanted] = [:]
    let tickets = try context.fetch(FetchDescriptor<Ticket>(sortBy: [SortDescriptor(\.id)]))
    for ticket in tickets { stored["Ticket \(ticket.id)"] = Wanted(ticket) }
    for purse in try context.fetch(FetchDescriptor<Purse>()) { stored["Purse \(purse.id)"] = Wanted(purse) }
    for mark in marks { stored["Mark \(mark)"] = Wanted(Mark(id: mark)) }
    // A ticket that was deleted is taken out of all purses, also where a save that did so before was given up.
    for key in wanted.keys { wanted[key]?.tickets.removeAll { id in !tickets.contains { $0.id == id } } }
    let wrong = Set(stored.keys).union(wanted.keys)
      .filter { (stored[$0] ?? Wanted(nil)) != (wanted[$0]?.note == nil ? Wanted(nil) : wanted[$0]) }
      .map { "\($0): stored \(stored[$0].map { "\($0)" } ?? "-"), wanted \(wanted[$0].map { "\($0)" } ?? "-")" }
    #expect(wrong.isEmpty, "\(comment), given up \(givenUp.sorted()) of \(saves)")
    #expect(Set(tickets.map(\.code)).count == tickets.count, comment)
    #expect(try await eventually { observed.value == tickets }, comment)
    return (givenUp.count, marks.count)
  }

  @Test("Each save that is given up is told once, with its values, and all others are stored")
  func random() async throws {
    var (givenUp, stored) = (0, 0)
    for seed in TestOptions.seeds(TestOptions.isLong ? 400 : 40) {
      for strategy in StrategyKind.allCases where !strategy.viewSavesToDisk {
        let outcome = try await run(strategy, seed: seed)
        givenUp += outcome.givenUp
        stored += outcome.stored
      }
    }
    #expect(givenUp > 0 && stored > 0)
  }
}
