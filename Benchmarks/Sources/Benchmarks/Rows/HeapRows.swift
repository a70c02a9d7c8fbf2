import Concord

extension Row {
  static var heapPerEntity: Row {
    Row(
      "heap per kept entity beyond the value's own strings", unit: .bytes, goal: .bytes(220), was: "208 B",
      earlier: .cohesionKit(392),
      floor: "a Dictionary of 100,000 values, as it grew (122 B if it holds an object for each value instead)",
      repetitions: 1
    ) { _ in
      // Every value exists before, so that its strings are not counted; neither is the array of those who keep.
      let books = Book.samples(100_000)
      return Sides {
        let store = EntityStore(delivery: .immediate)
        var kept: [EntityObserver<Book>] = []
        kept.reserveCapacity(books.count)
        let growth = Heap.growth(per: books.count) { for book in books { kept.append(store.store(book)) } }
        try expect(kept[4711].value, is: books[4711], "the value of a stored book")
        return growth
      } floor: {
        var stored: [Int: Book] = [:]
        let growth = Heap.growth(per: books.count) { for book in books { stored[book.id] = book } }
        try expect(stored[4711] == books[4711], "the book is not stored")
        return growth
      }
    }
  }

  static var heapPerReleased: Row {
    Row(
      "heap left per released id, 1,000,000 of them", unit: .bytes, goal: .zero, was: "0 B",
      earlier: .cohesionKit(148, "95 to 148 bytes"),
      floor: "a Dictionary into which each value is put and taken out again", repetitions: 1
    ) { _ in
      let sample = Book(id: 0)
      let count = 1_000_000
      return Sides {
        let store = EntityStore(delivery: .immediate)
        for id in 0..<1_000 { store.store(Book(id: -1 - id, like: sample)) }
        var read = 0
        let growth = Heap.growth(per: count) {
          for id in 0..<count { read &+= store.store(Book(id: id, like: sample)).value.id }
        }
        try expect(read, is: count * (count - 1) / 2, "the sum of the ids read")
        try expect(store.find(Book.self, id: count / 2) == nil, "a released entity is still found")
        return growth
      } floor: {
        var stored: [Int: Book] = [:]
        stored[-1] = Book(id: -1, like: sample)
        var read = 0
        let growth = Heap.growth(per: count) {
          for id in 0..<count {
            stored[id] = Book(id: id, like: sample)
            read &+= stored.removeValue(forKey: id)?.id ?? 0
          }
        }
        try expect(read, is: count * (count - 1) / 2, "the sum of the ids read")
        return growth
      }
    }
  }

  static var heapPerReleasedAtOnce: Row {
    Row(
      "the same, 200,000 of them alive at a time", unit: .bytes, goal: .zero, was: "0 B",
      floor: "a Dictionary that is dropped when it holds so many", repetitions: 1
    ) { _ in
      let sample = Book(id: 0)
      let waves = 5
      let size = 200_000
      return Sides {
        let store = EntityStore(delivery: .immediate)
        for id in 0..<1_000 { store.store(Book(id: -1 - id, like: sample)) }
        let growth = try Heap.growth(per: waves * size) {
          for wave in 0..<waves {
            var kept: [EntityObserver<Book>] = []
            for id in 0..<size { kept.append(store.store(Book(id: wave * size + id, like: sample))) }
            try expect(kept[size - 1].value.id, is: (wave + 1) * size - 1, "the id of a kept entity")
          }
        }
        try expect(store.find(Book.self, id: size / 2) == nil, "a released entity is still found")
        return growth
      } floor: {
        try Heap.growth(per: waves * size) {
          for wave in 0..<waves {
            var stored: [Int: Book] = [:]
            for id in 0..<size { stored[id] = Book(id: wave * size + id, like: sample) }
            try expect(stored.count, is: size, "books stored")
          }
        }
      }
    }
  }
}
