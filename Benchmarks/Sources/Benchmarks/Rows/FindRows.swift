import Concord

extension Row {
  static var find: Row {
    find(
      "find by id among 100,000, and read the value", was: "0.10 µs", earlier: .cohesionKit(1.75e3),
      floor: "copies the value out of a Dictionary of 100,000 (1,000 ids in any order, over and over)"
    ) {
      let ids = (0..<1_000).map { $0 * 97 }
      return (0..<20).flatMap { _ in ids.shuffled() }
    }
  }

  static var findAnywhere: Row {
    find(
      "the same, each time another id, which no cache holds", was: "0.48 µs",
      floor: "copies the value out of a Dictionary of 100,000 (all ids, in any order)"
    ) {
      (0..<100_000).shuffled()
    }
  }

  private static func find(
    _ name: String, was: String, earlier: Earlier? = nil, floor: String, ids: @escaping () -> [Int]
  ) -> Row {
    Row(name, goal: .floor(times: 3), was: was, earlier: earlier, floor: floor) { stopwatch in
      let books = Book.samples(100_000)
      let ids = ids()
      let store = EntityStore(delivery: .immediate)
      let kept = books.map { store.store($0) }
      let stored = Dictionary(uniqueKeysWithValues: books.map { ($0.id, $0) })
      return Sides {
        var read = 0
        let time = stopwatch.nanoseconds(per: ids.count) {
          for id in ids {
            let value = store.find(Book.self, id: id)?.value
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
            // The optional is a copy of its own; the value alone would be lent to the black hole by the Dictionary.
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
