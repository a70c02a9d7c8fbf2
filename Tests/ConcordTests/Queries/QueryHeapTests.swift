import Concord
import ConcordTestHeap
import Foundation
import Testing

@Suite("What queries keep")
struct QueryHeapTests {
  private struct Item: Identifiable, Equatable {
    let id: Int
    var number: Int
    var weight: Double
    var title = "a"
  }

  @Test("For each entity a query keeps a number, and a key for each property by which queries are found")
  func keys() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let count = 100_000
      let store = EntityStore(delivery: .immediate)
      let kept = store.store((0..<count).map { Item(id: $0, number: $0, weight: Double($0)) })
      var queries: [EntityObserver<EntityResults<Item>>] = []
      /// The bytes that a query takes for each entity, of which it finds none.
      func bytes(_ query: () -> EntityObserver<EntityResults<Item>>) -> Int {
        let before = heapInUse()
        queries.append(query())
        return (heapInUse() - before) / count
      }
      let number = bytes { store.query(Item.self, where: { _ in false }) }
      let value = bytes { store.query(Item.self, where: #Predicate { $0.number == -1 }) }
      let another = bytes { store.query(Item.self, where: #Predicate { $0.number == -2 }) }
      let range = bytes { store.query(Item.self, where: #Predicate { $0.weight < -1 }) }
      let texts = bytes { store.query(Item.self, where: #Predicate { $0.title < "A" }) }
      print("bytes for each entity: \(number), a value \(value), another value \(another), a range \(range), \(texts)")
      // Tables are between three eighths and three quarters full.
      #expect(number <= 45 && value <= 45 && another == 0 && range <= 45 && texts <= 90)
      withExtendedLifetime((kept, queries)) {}
    }
    print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
  }
}
