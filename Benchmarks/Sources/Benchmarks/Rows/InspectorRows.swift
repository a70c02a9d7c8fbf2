#if Inspector
  import Concord
  import ConcordInspector
  import Dispatch
  import Synchronization

  extension Row {
    /// A store with an inspector, beside one without. Both are built with the inspector's trait.
    static var inspector: [Row] { [updateInspected, storeInspected, batchInspected] }

    private static let limit = Goal.floor(times: 1.1)
    private static let floor = "the same without an inspector, with Concord"

    private static var updateInspected: Row {
      Row("update, one observer called at once, beside an inspector", goal: limit, floor: floor) { stopwatch in
        let count = 100_000
        func side(_ store: EntityStore) throws -> () throws -> Double {
          let kept = Book.samples(10_000).map { store.store($0) }
          let screen = Screen<Book>()
          let subscription = kept[4711].observe { screen.show($0) }
          return {
            let time = stopwatch.nanoseconds(per: count) {
              for index in 0..<count { store.update(Book.self, id: 4711) { $0.title = Titles[index] } }
            }
            try expect(screen.value?.title, is: Titles[count - 1], "what the observer saw last")
            return withExtendedLifetime((subscription, kept)) { time }
          }
        }
        return try sides(side)
      }
    }

    private static var storeInspected: Row {
      Row("store it again, with another title, beside an inspector", goal: limit, floor: floor) { stopwatch in
        let books = Book.samples(10_000)
        let changed = books.map { book in
          var book = book
          book.title += ", corrected"
          return book
        }
        return try sides { store in
          let kept = books.map { store.store($0) }
          return {
            let time = stopwatch.nanoseconds(per: 4 * books.count) {
              for pass in 0..<4 { for book in pass % 2 == 0 ? changed : books { store.store(book) } }
            }
            try expect(kept[4711].value, is: books[4711], "the value of a stored book")
            return time
          }
        }
      }
    }

    private static var batchInspected: Row {
      Row("a batch of 10,000 in one call, again, beside an inspector", goal: limit, floor: floor) { stopwatch in
        let books = Book.samples(10_000)
        return try sides { store in
          {
            var kept: EntityObserver<[Book]>?
            let time = stopwatch.nanoseconds { kept = store.store(books) }
            try expect(kept?.value.count ?? 0, is: books.count, "books that were stored")
            return time
          }
        }
      }
    }

    /// - Parameter side: prepares a store, and returns what is measured.
    private static func sides(_ side: (EntityStore) throws -> () throws -> Double) throws -> Sides {
      let (inspected, plain) = (EntityStore(delivery: .immediate), EntityStore(delivery: .immediate))
      let inspector = try inspect(inspected)
      let (concord, floor) = (try side(inspected), try side(plain))
      return Sides {
        try withExtendedLifetime(inspector) { try concord() }
      } floor: {
        try floor()
      }
    }

    private static func inspect(_ store: EntityStore) throws -> Inspector {
      let done = DispatchSemaphore(value: 0)
      let found = Mutex<Result<Inspector, any Error>?>(nil)
      Task {
        let result: Result<Inspector, any Error>
        do { result = .success(try await store.inspect(inReleaseBuilds: true)) } catch { result = .failure(error) }
        found.withLock { $0 = result }
        done.signal()
      }
      done.wait()
      guard let result = found.withLock({ $0 }) else { throw WrongResult(description: "no inspector") }
      return try result.get()
    }
  }
#endif
