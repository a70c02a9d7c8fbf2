import Foundation
import Testing

@testable import ConcordPersistence

/// What has no number until somebody gives it one.
private struct Draft: PersistentEntity, Equatable {
  let id: Int?
  var text: String

  static let persistentProperties: [PersistentProperty<Draft>] = [.init("id", \.id), .init("text", \.text)]
  init(_ id: Int?, _ text: String) { (self.id, self.text) = (id, text) }
  init(from row: inout RowReader) throws { self.init(try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
  }
}

private struct Label: PersistentEntity, Aggregate, Equatable {
  let id: String?
  var draft: Draft?
  var drafts: [Draft]

  static let persistentProperties: [PersistentProperty<Label>] = [
    .init("draft", \.draft), .init("id", \.id), .init("drafts", \.drafts),
  ]
  init(_ id: String?, _ draft: Draft?, _ drafts: [Draft]) { (self.id, self.draft, self.drafts) = (id, draft, drafts) }
  init(from row: inout RowReader) throws {
    let draft: Draft? = try row.read()
    self.init(try row.read(), draft, try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(draft)
    try row.write(id)
    try row.write(drafts)
  }
}

@Suite("Optional ids")
struct OptionalIDTests {
  private func withModel(
    _ kind: StoreKind, _ body: (PersistentStoreCoordinator, BackgroundContext) throws -> Void
  ) throws {
    try kind.withCoordinator(Model("Drafts", entities: [Draft.self, Label.self])) { coordinator in
      try body(coordinator, coordinator.newContext())
    }
  }

  @Test("No id is an id like any other", arguments: StoreKind.allCases)
  func missing(_ kind: StoreKind) throws {
    try withModel(kind) { coordinator, context in
      let drafts = [Draft(nil, "new"), Draft(-1, "a"), Draft(9, "b"), Draft(10, "c"), Draft(.min, "d")]
      let labels = [
        Label(nil, drafts[0], drafts), Label("null", nil, []), Label("", drafts[1], [drafts[0], drafts[0]]),
        Label("e\u{301}", nil, []),
      ]
      for draft in drafts { context.insert(draft) }
      for label in labels { context.insert(label) }
      try context.save()
      let other = coordinator.newContext()
      for draft in drafts { #expect(try other.find(Draft.self, id: draft.id) == draft) }
      for label in labels { #expect(try other.find(Label.self, id: label.id) == label) }
      #expect(try other.fetch(FetchDescriptor<Draft>()).count == 5)
      try other.update(Draft.self, id: nil) { $0.text = "newer" }
      try other.save()
      #expect(try coordinator.newContext().find(Label.self, id: nil)?.draft?.text == "newer")
      try other.delete(Draft.self, id: nil)
      try other.save()
      #expect(try coordinator.newContext().find(Label.self, id: nil)?.drafts == Array(drafts.dropFirst()))
      #expect(try coordinator.newContext().find(Label.self, id: "")?.drafts == [])
    }
  }

  @Test("Predicates and order take them as they are, and not as they are kept", arguments: StoreKind.allCases)
  func queries(_ kind: StoreKind) throws {
    try withModel(kind) { coordinator, context in
      let ids: [Int?] = [nil, -1, 9, 10, .min, 100]
      for id in ids { context.insert(Draft(id, "\(id ?? 0)")) }
      try context.save()
      func fetch(_ predicate: Predicate<Draft>? = nil, _ order: SortOrder = .forward) throws -> [Int?] {
        let descriptor = FetchDescriptor<Draft>(predicate: predicate, sortBy: [SortDescriptor(\.id, order: order)])
        return try coordinator.newContext().fetch(descriptor).map(\.id)
      }
      #expect(try fetch() == [nil, .min, -1, 9, 10, 100])
      #expect(try fetch(nil, .reverse) == [100, 10, 9, -1, .min, nil])
      #expect(try fetch(#Predicate { $0.id == nil }) == [nil])
      #expect(try fetch(#Predicate { $0.id != nil }) == [.min, -1, 9, 10, 100])
      #expect(try fetch(#Predicate { $0.id == 10 }) == [10])
      #expect(try fetch(#Predicate { ($0.id ?? 50) > 9 }) == [nil, 10, 100])
      let wanted: [Int?] = [nil, 9]
      #expect(try fetch(#Predicate { wanted.contains($0.id) }) == [nil, 9])
    }
  }
}
