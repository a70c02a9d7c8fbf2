#if Inspector
  import Concord
  import ConcordInspector
  import Foundation
  import Testing

  @Suite("What the inspector shows of queries")
  struct QueryTests {
    @Test("A live query shows its plan, its size and its cost")
    func queries() async throws {
      let store = EntityStore(delivery: .immediate)
      let books = store.store((0..<10).map { Book(id: $0, title: "\($0)", author: austen) })
      try await inspecting(store) { client, _ in
        #expect(try await client.get("api/queries").json["queries"].list.isEmpty)
        let one = store.query(Book.self, where: #Predicate { $0.title == "3" })
        let some = store.query(Book.self, where: { $0.id > 4 }, sortBy: [SortDescriptor(\.title)], limit: 3)
        #expect(one.value.count == 1 && some.value.count == 3)
        let found = try await client.get("api/queries").json["queries"].list
        #expect(found.count == 2)
        let plans = found.map { $0["plan"].list.compactMap(\.text) }
        #expect(plans[0][0] == #"found by \Book.title == 3: changes of other entities cost nothing"#)
        let wanted = [
          "its condition is evaluated for each new value of the type", "sorted by 1 property, then by id",
          "shown: 0..<3",
        ]
        #expect(plans[1] == wanted)
        #expect(found.map { $0["size"].int } == [1, 5])
        #expect(found.map { $0["looks"].int } == [10, 10])
        store.update(Book.self, id: 9) { $0.title = "Nine" }
        _ = (one.value, some.value)
        #expect(try await client.get("api/queries").json["queries"].list.map { $0["looks"].int } == [10, 11])
        withExtendedLifetime((one, some)) {}
      }
      withExtendedLifetime(books) {}
    }
  }
#endif
