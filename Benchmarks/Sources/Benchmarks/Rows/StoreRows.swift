import Concord

extension Row {
  static var storeNew: Row {
    Row(
      "store a new flat entity, observer kept", goal: .floor(times: 2), was: "0.25 µs", earlier: .cohesionKit(4.3e3),
      floor: "inserts the value into a Dictionary that grows, and keeps a new object with an id and a closure",
      repetitions: 11
    ) { stopwatch in
      let books = Book.samples(100_000)
      return Sides {
        let store = EntityStore(delivery: .immediate)
        var kept: [EntityObserver<Book>] = []
        kept.reserveCapacity(books.count)
        let time = stopwatch.nanoseconds(per: books.count) { for book in books { kept.append(store.store(book)) } }
        try expect(kept[4711].value, is: books[4711], "the value of a stored book")
        try expect(store.find(Book.self, id: books.count - 1)?.value == books.last, "the last book is not found")
        return time
      } floor: {
        var stored: [Int: Book] = [:]
        var kept: [KeptObserver] = []
        kept.reserveCapacity(books.count)
        let time = stopwatch.nanoseconds(per: books.count) {
          for book in books {
            stored[book.id] = book
            kept.append(KeptObserver(id: book.id) { blackHole($0) })
          }
        }
        try expect(stored.count == books.count && kept.count == books.count, "not all books were stored")
        return time
      }
    }
  }

  static var storeAgain: Row {
    Row(
      "store it again", goal: .microseconds(0.25), was: "0.15 µs", earlier: .cohesionKit(3.7e3),
      floor: "assigns the value to its place in the Dictionary (10,000 of them in turn)"
    ) { stopwatch in
      let books = Book.samples(10_000)
      let passes = 4
      let store = EntityStore(delivery: .immediate)
      let kept = books.map { store.store($0) }
      var stored = Dictionary(uniqueKeysWithValues: books.map { ($0.id, $0) })
      return Sides {
        let time = stopwatch.nanoseconds(per: passes * books.count) {
          for _ in 0..<passes { for book in books { store.store(book) } }
        }
        try expect(kept[4711].value, is: books[4711], "the value of a stored book")
        return time
      } floor: {
        let time = stopwatch.nanoseconds(per: passes * books.count, on: &stored) { stored in
          for _ in 0..<passes { for book in books { stored[book.id] = book } }
        }
        try expect(stored[4711] == books[4711], "the book is not stored")
        return time
      }
    }
  }

  static var storeChanged: Row {
    Row(
      "store it again, with another title", goal: .microseconds(0.25), was: "0.19 µs",
      floor: "assigns the value to its place in the Dictionary (10,000 of them in turn)"
    ) { stopwatch in
      let books = Book.samples(10_000)
      let store = EntityStore(delivery: .immediate)
      let kept = books.map { store.store($0) }
      var stored = Dictionary(uniqueKeysWithValues: books.map { ($0.id, $0) })
      let changed = books.map { book in
        var book = book
        book.title += ", corrected"
        return book
      }
      let passes = 4
      return Sides {
        let time = stopwatch.nanoseconds(per: passes * books.count) {
          for pass in 0..<passes { for book in pass % 2 == 0 ? changed : books { store.store(book) } }
        }
        try expect(kept[4711].value, is: books[4711], "the value of a stored book")
        return time
      } floor: {
        let time = stopwatch.nanoseconds(per: passes * books.count, on: &stored) { stored in
          for pass in 0..<passes { for book in pass % 2 == 0 ? changed : books { stored[book.id] = book } }
        }
        try expect(stored[4711] == books[4711], "the book is not stored")
        return time
      }
    }
  }

  static var storeBatch: Row {
    Row(
      "batch of 10,000 in one call", goal: .floor(times: 3), was: "1.09 ms", earlier: .cohesionKit(23e6),
      floor: "inserts the values into a Dictionary with room for them"
    ) { stopwatch in
      let books = Book.samples(10_000)
      return Sides {
        let store = EntityStore(delivery: .immediate)
        var kept: EntityObserver<[Book]>?
        let time = stopwatch.nanoseconds { kept = store.store(books) }
        try expect(kept?.value == books, "the batch does not read as it was stored")
        return time
      } floor: {
        var stored: [Int: Book] = [:]
        let time = stopwatch.nanoseconds {
          stored.reserveCapacity(books.count)
          for book in books { stored[book.id] = book }
        }
        try expect(stored.count, is: books.count, "books stored")
        return time
      }
    }
  }

  static var storeBatchOfAggregates: Row {
    Row(
      "batch of 10,000 small aggregates in one call", goal: .none, was: "8.15 ms",
      floor: "inserts the aggregates, and the two children of each, into Dictionaries with room for them"
    ) { stopwatch in
      let shelves = (0..<10_000).map { id in
        Shelf(id: id, name: "A small shelf", books: [Book(id: 2 * id), Book(id: 2 * id + 1)])
      }
      return Sides {
        let store = EntityStore(delivery: .immediate)
        var kept: EntityObserver<[Shelf]>?
        let time = stopwatch.nanoseconds { kept = store.store(shelves) }
        try expect(kept?.value == shelves, "the batch does not read as it was stored")
        return time
      } floor: {
        var stored: [Int: Shelf] = [:]
        var books: [Int: Book] = [:]
        let time = stopwatch.nanoseconds {
          stored.reserveCapacity(shelves.count)
          books.reserveCapacity(2 * shelves.count)
          for shelf in shelves {
            stored[shelf.id] = shelf
            for book in shelf.books { books[book.id] = book }
          }
        }
        try expect(stored.count == shelves.count && books.count == 2 * shelves.count, "not everything was stored")
        return time
      }
    }
  }
}
