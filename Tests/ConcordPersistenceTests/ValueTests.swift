import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Values")
struct ValueTests {
  @Test("Every value comes back exactly as it went in", arguments: StoreKind.allCases)
  func roundTrip(_ kind: StoreKind) throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    try kind.withCoordinator(libraryModel()) { coordinator in
      let values = (0..<500).map { _ in Everything(&random) }
      let context = coordinator.newContext()
      for value in values { context.insert(value) }
      try context.save()
      let other = coordinator.newContext()
      for value in values {
        let found = try #require(try other.find(Everything.self, id: value.id))
        #expect(value.differences(from: found) == [], "seed \(seed)")
      }
      let all = try other.fetch(FetchDescriptor<Everything>())
      #expect(all.map(\.id.uuidString) == values.map(\.id.uuidString).sorted())
    }
  }

  @Test("Data of 10 MB comes back", arguments: StoreKind.allCases)
  func largeData(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      var random = SeededGenerator(seed: 1)
      var value = Everything(&random)
      value.data = Data((0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      let context = coordinator.newContext()
      context.insert(value)
      try context.save()
      #expect(try coordinator.newContext().find(Everything.self, id: value.id)?.data == value.data)
    }
  }

  @Test("Ids that are equal are one entity, and the id comes back as it was given", arguments: StoreKind.allCases)
  func equalIDs(_ kind: StoreKind) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let context = coordinator.newContext()
      context.insert(Author(id: "Ren\u{65}\u{301}", name: "first"))
      try context.save()
      let found = try #require(try context.find(Author.self, id: "Ren\u{e9}"))
      #expect(Array(found.id.utf8) == Array("Ren\u{65}\u{301}".utf8))
      context.insert(Author(id: "Ren\u{e9}", name: "second"))
      try context.save()
      let all = try context.fetch(FetchDescriptor<Author>())
      #expect(all.map(\.name) == ["second"])
      #expect(all.map { Array($0.id.utf8) } == [Array("Ren\u{e9}".utf8)])
    }
  }
}
