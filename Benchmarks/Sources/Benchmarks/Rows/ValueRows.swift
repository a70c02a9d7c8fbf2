import Concord

extension Row {
  /// Reading without an observer.
  static var value: [Row] { [valueByID] }

  private static var valueByID: Row {
    Row(
      "value by id among 100,000, without an observer", goal: .floor(times: 2), was: "0.10 µs",
      floor: "copies the value out of a Dictionary of 100,000 (1,000 ids in any order, over and over)"
    ) { stopwatch in
      let books = Book.samples(100_000)
      let some = (0..<1_000).map { $0 * 97 }
      let ids = (0..<20).flatMap { _ in some.shuffled() }
      let store = EntityStore(delivery: .immediate)
      let kept = books.map { store.store($0) }
      let stored = Dictionary(uniqueKeysWithValues: books.map { ($0.id, $0) })
      return Sides {
        var read = 0
        let time = stopwatch.nanoseconds(per: ids.count) {
          for id in ids {
            let value = store.value(Book.self, id: id)
            blackHole(value)
            read &+= value?.id ?? 0
          }
        }
        try expect(read, is: ids.reduce(0, &+), "the sum of the ids found")
        return withExtendedLifetime(kept) { time }
      } floor: {
        var read = 0
        let time = stopwatch.nanoseconds(per: ids.count) {
          for id in ids {
            let value = stored[id]
            blackHole(value)
            read &+= value?.id ?? 0
          }
        }
        try expect(read, is: ids.reduce(0, &+), "the sum of the ids found")
        return time
      }
    }
  }
}
