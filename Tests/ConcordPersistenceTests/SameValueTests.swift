import Foundation
import Testing

@testable import ConcordPersistence

/// With values that are kept as JSON, and have no order.
private struct Tagged: PersistentEntity, Equatable {
  enum Kind: String, Codable, Hashable, CaseIterable { case novel, poem, play, essay }
  let id: Set<String>
  var tags: Set<String>
  var kinds: [Kind: Int]
  var more: Set<Int>?

  static let persistentProperties: [PersistentProperty<Tagged>] = [
    .init("id", \.id), .init("tags", \.tags), .init("kinds", \.kinds), .init("more", \.more),
  ]
  init(_ id: Set<String>, _ tags: Set<String>, _ kinds: [Kind: Int], _ more: Set<Int>?) {
    (self.id, self.tags, self.kinds, self.more) = (id, tags, kinds, more)
  }
  init(from row: inout RowReader) throws {
    self.init(try row.read(), try row.read(), try row.read(), try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(tags)
    try row.write(kinds)
    try row.write(more)
  }
}

@Suite("Values that are the same")
struct SameValueTests {
  /// The same set, in another order inside.
  private func shuffled<T>(_ set: Set<T>) -> Set<T> {
    var result = Set<T>(minimumCapacity: Int.random(in: set.count...set.count * 8))
    for element in set.shuffled() { result.insert(element) }
    return result
  }

  private func shuffled(_ value: Tagged) -> Tagged {
    var kinds = [Tagged.Kind: Int](minimumCapacity: Int.random(in: 4...100))
    for (kind, count) in value.kinds.shuffled() { kinds[kind] = count }
    return Tagged(shuffled(value.id), shuffled(value.tags), kinds, value.more.map(shuffled))
  }

  @Test("A set and a dictionary are stored the same, whatever their order in memory", arguments: StoreKind.allCases)
  func unordered(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Tags", entities: [Tagged.self])) { coordinator in
      let context = coordinator.newContext()
      let value = Tagged(
        Set((0..<9).map { "\($0)" }), Set((0..<20).map { "tag \($0), \"\u{e9}\"" }),
        Dictionary(uniqueKeysWithValues: Tagged.Kind.allCases.map { ($0, $0.rawValue.count) }), Set(0..<10))
      context.insert(value)
      try context.save()
      for _ in 0..<50 {
        let same = shuffled(value)
        #expect(same == value)
        try context.update(Tagged.self, id: same.id) {
          ($0.tags, $0.kinds, $0.more) = (same.tags, same.kinds, same.more)
        }
        #expect(!context.hasChanges)
      }
      for _ in 0..<50 {
        let same = shuffled(value)
        context.insert(same)
      }
      try context.save()
      #expect(try coordinator.newContext().fetch(FetchDescriptor<Tagged>()) == [value])
      context.insert(Tagged([], [], [:], []))
      try context.save()
      #expect(try coordinator.newContext().find(Tagged.self, id: []) == Tagged([], [], [:], []))
    }
  }

  @Test("A decimal comes back, also one whose exponent is the greatest there is", arguments: StoreKind.allCases)
  func decimals(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      var random = SeededGenerator(seed: 1)
      var value = Everything(&random)
      let context = coordinator.newContext()
      let ends = [Decimal.greatestFiniteMagnitude, .leastNonzeroMagnitude, 0, 1, .pi, Decimal(UInt64.max)]
      let rounded = try #require(Decimal(string: "340282366920938463463374607431768211450e127"))
      for decimal in (ends + [rounded]).flatMap({ [$0, -$0] }) {
        value.decimal = decimal
        context.insert(value)
        try context.save()
        let other = coordinator.newContext()
        #expect(try other.find(Everything.self, id: value.id)?.decimal == decimal)
        #expect(try other.count(FetchDescriptor<Everything>(predicate: #Predicate { $0.decimal == decimal })) == 1)
      }
    }
  }
}
