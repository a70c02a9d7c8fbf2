import Concord

extension Row {
  private static let books = 10_000

  static var storeAggregate: Row {
    Row(
      "store an aggregate of 10,000", goal: .floor(times: 5), was: "1.09 ms", earlier: .cohesionKit(47e6),
      floor: "inserts the children into a Dictionary with room for them, and the parent into another"
    ) { stopwatch in
      let shelf = Shelf.sample(books: books)
      return Sides {
        let store = EntityStore(delivery: .immediate)
        var kept: EntityObserver<Shelf>?
        let time = stopwatch.nanoseconds { kept = store.store(shelf) }
        try expect(kept?.value == shelf, "the aggregate does not read as it was stored")
        try expect(store.find(Book.self, id: 4711)?.value == shelf.books[4711], "a child is not found")
        return time
      } floor: {
        var stored: [Int: Book] = [:]
        var shelves: [Int: Shelf] = [:]
        let time = stopwatch.nanoseconds {
          stored.reserveCapacity(shelf.books.count)
          for book in shelf.books { stored[book.id] = book }
          shelves[shelf.id] = shelf
        }
        try expect(stored.count == shelf.books.count && shelves.count == 1, "not everything was stored")
        return time
      }
    }
  }

  static var changeField: Row {
    Row(
      "change only a field of that aggregate", goal: .microseconds(2.1), was: "0.77 µs", earlier: .cohesionKit(71e6),
      floor: "changes the field in place in the Dictionary"
    ) { stopwatch in
      let shelf = Shelf.sample(books: books)
      let count = 500
      let store = EntityStore(delivery: .immediate)
      let kept = store.store(shelf)
      var shelves = [shelf.id: shelf]
      return Sides {
        let time = stopwatch.nanoseconds(per: count) {
          for index in 0..<count { store.update(Shelf.self, id: shelf.id) { $0.name = Titles[index] } }
        }
        let value = kept.value
        try expect(value.name, is: Titles[count - 1], "the name")
        try expect(value.books == shelf.books, "the books changed")
        return time
      } floor: {
        let time = stopwatch.nanoseconds(per: count, on: &shelves) { shelves in
          for index in 0..<count { shelves.inPlace(shelf.id) { $0.name = Titles[index] } }
        }
        try expect(shelves[shelf.id]?.name == Titles[count - 1], "the name did not change")
        return time
      }
    }
  }

  static var updateChild: Row {
    Row(
      "update one child of it, unobserved", goal: .microseconds(0.5), was: "0.13 µs", earlier: .cohesionKit(5.7e3),
      floor: "changes the child in place in the parent's array in the Dictionary"
    ) { stopwatch in
      let shelf = Shelf.sample(books: books)
      let count = 5_000
      let store = EntityStore(delivery: .immediate)
      let kept = store.store(shelf)
      var shelves = [shelf.id: shelf]
      return Sides {
        let time = stopwatch.nanoseconds(per: count) {
          for index in 0..<count { store.update(Book.self, id: child(index)) { $0.title = Titles[index] } }
        }
        try expect(kept.value.books[child(count - 1)].title, is: Titles[count - 1], "the child in the aggregate")
        return time
      } floor: {
        let time = stopwatch.nanoseconds(per: count, on: &shelves) { shelves in
          for index in 0..<count { shelves.inPlace(shelf.id) { $0.books[child(index)].title = Titles[index] } }
        }
        try expect(shelves[shelf.id]?.books[child(count - 1)].title == Titles[count - 1], "the child did not change")
        return time
      }
    }
  }

  static var updateChildObserved: Row {
    Row(
      "update one child of it, observed, the observer keeping each value", goal: .floor(times: 1.2), was: "290 µs",
      earlier: .cohesionKit(64e3, "or a crash"),
      floor: "changes the child in the parent's array, which is copied as the closure called last kept it, and calls it"
    ) { stopwatch in
      let shelf = Shelf.sample(books: books)
      let count = 20

      let store = EntityStore(delivery: .immediate)
      let screen = Screen<Shelf>()
      let subscription = store.store(shelf).observe { screen.show($0) }

      var shelves = [shelf.id: shelf]
      let floorScreen = Screen<Shelf>()
      let observers = Observers<Shelf>()
      observers.observe(shelf.id) { floorScreen.show($0) }
      floorScreen.show(shelf)

      return Sides {
        let calls = screen.calls
        let time = stopwatch.nanoseconds(per: count) {
          for index in 0..<count { store.update(Book.self, id: child(index)) { $0.title = Titles[index + calls] } }
        }
        try expect(screen.calls - calls, is: count, "calls of the observer")
        let seen = screen.value?.books[child(count - 1)].title
        try expect(seen, is: Titles[count - 1 + calls], "the child in what the observer saw last")
        return withExtendedLifetime(subscription) { time }
      } floor: {
        let calls = floorScreen.calls
        let time = stopwatch.nanoseconds(per: count, on: &shelves) { shelves in
          for index in 0..<count {
            shelves.inPlace(shelf.id) {
              $0.books[child(index)].title = Titles[index + calls]
              observers.notify(shelf.id, $0)
            }
          }
        }
        try expect(floorScreen.calls - calls, is: count, "calls of the closure")
        let seen = floorScreen.value?.books[child(count - 1)].title
        try expect(seen, is: Titles[count - 1 + calls], "the child in what the closure saw last")
        return time
      }
    }
  }

  /// The children in an order that is not the array's.
  private static func child(_ index: Int) -> Int { index &* 37 % books }
}
