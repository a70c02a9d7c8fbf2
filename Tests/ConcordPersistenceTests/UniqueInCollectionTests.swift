import Concord
import ConcordPersistence
import Testing

/// A wrapper whose value is unique.
private enum Label: PersistentWrapper, Equatable {
  case code(String)
  case none

  var code: String? { if case .code(let code) = self { code } else { nil } }
  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Label>
  ) -> [PartialIdentifiableKeyPath<Root>] { [] }
  var persistentCase: String { self == .none ? "none" : "code" }
  static let persistentProperties: [PersistentProperty<Label>] = [.init("code", \.code, .unique)]
  init(case name: String, from row: inout RowReader) throws {
    let code: String? = try row.read()
    self = code.map { .code($0) } ?? .none
  }
  func write(to row: inout RowWriter) throws { try row.write(code) }
}

private struct Labelled: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var label: Label

  static let persistentProperties: [PersistentProperty<Labelled>] = [.init("id", \.id), .init("label", \.label)]
  init(_ id: Int, _ label: Label) { (self.id, self.label) = (id, label) }
  init(from row: inout RowReader) throws { self.init(try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(label)
  }
}

private struct ManyLabels: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var labels: [Label]

  static let persistentProperties: [PersistentProperty<ManyLabels>] = [.init("id", \.id), .init("labels", \.labels)]
  init(from row: inout RowReader) throws { (id, labels) = (try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(labels)
  }
}

@Suite("Unique values in wrappers")
struct UniqueInCollectionTests {
  @Test("The value of a wrapper is unique where an entity has one wrapper", arguments: StoreKind.allCases)
  func one(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Labels", entities: [Labelled.self])) { coordinator in
      let context = coordinator.newContext()
      context.insert(Labelled(1, .code("a")))
      context.insert(Labelled(2, .none))
      context.insert(Labelled(3, .none))
      try context.save()
      context.insert(Labelled(2, .code("a")))
      #expect(reason { try context.save() } == "another Labelled has the same label_code")
    }
  }

  @Test("A model in which a value would have to be unique within a collection is refused")
  func many() {
    #expect(
      reason { _ = try Model("Labels", entities: [ManyLabels.self]) }?
        .contains("ManyLabels.labels is a collection, in which 'labels_code' cannot be unique") == true)
  }
}
