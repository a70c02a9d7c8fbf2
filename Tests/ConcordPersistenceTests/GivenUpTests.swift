import Concord
import Foundation
import Testing

@testable import ConcordPersistence

private struct Badge: PersistentEntity, Equatable {
  let id: Int
  var code: String
  var note = ""

  static let persistentProperties: [PersistentProperty<Badge>] = [
    .init("id", \.id), .init("code", \.code, .unique), .init("note", \.note),
  ]
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), code: try row.read(), note: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(code)
    try row.write(note)
  }
  init(id: Int, code: String, note: String = "") { (self.id, self.code, self.note) = (id, code, note) }
}

private struct Member: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var badge: Badge
  var spares: [Badge] = []

  static let persistentProperties: [PersistentProperty<Member>] = [
    .init("id", \.id), .init("badge", \.badge), .init("spares", \.spares),
  ]
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), badge: try row.read(), spares: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(badge)
    try row.write(spares)
  }
  init(id: Int, badge: Badge, spares: [Badge] = []) { (self.id, self.badge, self.spares) = (id, badge, spares) }
}

private struct Club: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var head: Member

  static let persistentProperties: [PersistentProperty<Club>] = [.init("id", \.id), .init("head", \.head)]
  init(from row: inout RowReader) throws { self.init(id: try row.read(), head: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(head)
  }
  init(id: Int, head: Member) { (self.id, self.head) = (id, head) }
}

@Suite("Saves that are given up in the background")
struct GivenUpTests {
  @Test("All that depends on one that is given up is told, however many entities that one had")
  func dependentsOfMany() async throws {
    let reports = Locked<[BackgroundSaveError]>([])
    let model = try Model("Club", entities: [Badge.self, Member.self, Club.self])
    let container = StrategyKind.mixed.container(model) { error in
      if let error = error as? BackgroundSaveError { reports.withLock { $0.append(error) } }
    }
    let (_, gate) = try GateStore.attach(to: container)
    let view = container.viewContext
    let others = BackgroundContext(parent: container.persistentStoreCoordinator)
    others.insert(Member(id: 1, badge: Badge(id: 10_000, code: "kept")))
    try others.save()
    let member = try #require(try view.find(Member.self, id: 1))
    gate.closeGate()
    // The last has the code of the first.
    for id in 0..<1_500 { view.insert(Badge(id: id, code: "\(id % 1_499)")) }
    try view.save()
    try view.update(Badge.self, id: 5) { $0.note = "changed" }
    try view.save()
    try view.update(Member.self, id: 1) { $0.badge = Badge(id: 6, code: "6") }
    try view.save()
    #expect(member.value.badge.id == 6)
    gate.openGate()
    try await container.flush()
    #expect(try await eventually { reports.withLock { $0.count } == 3 })
    let told = reports.withLock { $0 }.map { $0.changes.map { "\($0.key.entity.name) \($0.key.id)" } }
    #expect(told.map(\.count) == [1_500, 1, 1])
    #expect(told.dropFirst() == [["Badge 5"], ["Member 1"]])
    #expect(try container.stored(Member.self, id: 1)?.badge.id == 10_000)
  }

  @Test("A save that depends on one that is given up is given up, whole, and told with its values")
  func dependents() async throws {
    for strategy in StrategyKind.allCases where !strategy.viewSavesToDisk {
      let reports = Locked<[BackgroundSaveError]>([])
      let model = try Model("Club", entities: [Badge.self, Member.self, Club.self])
      let container = strategy.container(model) { error in
        if let error = error as? BackgroundSaveError { reports.withLock { $0.append(error) } }
      }
      let (_, gate) = try GateStore.attach(to: container)
      let view = container.viewContext
      let (taken, refused) = (Badge(id: 1, code: "taken"), Badge(id: 9, code: "taken"))
      let others = BackgroundContext(parent: container.persistentStoreCoordinator)
      for id in 1...3 { others.insert(Member(id: id, badge: taken)) }
      try others.save()
      let member = try #require(try view.find(Member.self, id: 1))

      gate.closeGate()
      view.insert(refused)
      view.insert(Badge(id: 10, code: "with it"))
      try view.save()
      // What is stored and is to require it, and what is new and requires it.
      try view.update(Member.self, id: 1) { $0.badge = refused }
      view.insert(Member(id: 5, badge: taken))
      try view.update(Member.self, id: 5) { $0.badge = refused }
      try view.save()
      // What requires what goes with it.
      view.insert(Club(id: 1, head: Member(id: 3, badge: taken)))
      try view.update(Club.self, id: 1) { $0.head = Member(id: 5, badge: refused) }
      try view.save()
      // What has it in a collection.
      try view.update(Member.self, id: 2) { $0.spares = [taken, refused] }
      try view.save()
      // What changes it.
      try view.update(Badge.self, id: 9) { $0.note = "changed" }
      try view.save()
      // What has nothing to do with it.
      try view.update(Badge.self, id: 1) { $0.note = "written" }
      try view.save()
      #expect(member.value.badge.id == 9)
      gate.openGate()
      try await container.flush()

      #expect(try await eventually { reports.withLock { $0.count } == 5 }, "\(strategy)")
      let told = reports.withLock { $0 }
      #expect(told.allSatisfy { !$0.isPending && "\($0.error)" == "another Badge has the same code" })
      // What stands in something that is inserted is stored with it.
      let nested: Set = ["Badge 1 updated", "Member 3 updated"]
      let names = told.map { report in
        report.changes.map { "\($0.key.entity.name) \($0.key.id) \($0.kind)" }.filter { !nested.contains($0) }.sorted()
      }
      #expect(
        names == [
          ["Badge 10 inserted", "Badge 9 inserted"], ["Member 1 updated", "Member 5 inserted"],
          ["Club 1 inserted"], ["Member 2 updated"], ["Badge 9 updated"],
        ])
      let objects = told.flatMap(\.changes).compactMap(\.object)
      #expect(objects.count == told.flatMap(\.changes).count)
      #expect(objects.contains { $0 as? Member == Member(id: 1, badge: refused) })
      #expect(objects.contains { $0 as? Club == Club(id: 1, head: Member(id: 5, badge: refused)) })
      #expect(objects.contains { ($0 as? Member)?.spares.map(\.id) == [1, 9] })
      #expect(objects.contains { $0 as? Badge == Badge(id: 9, code: "taken", note: "changed") })

      // What was stored is as it was.
      let kept = Badge(id: 1, code: "taken", note: "written")
      for id in 1...3 { #expect(try container.stored(Member.self, id: id) == Member(id: id, badge: kept)) }
      #expect(try container.stored(Club.self, id: 1) == nil && container.stored(Member.self, id: 5) == nil)
      #expect(try await eventually { member.value == Member(id: 1, badge: kept) })
    }
  }
}
