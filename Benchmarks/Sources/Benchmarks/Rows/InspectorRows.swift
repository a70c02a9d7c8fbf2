#if Inspector
  import Concord
  import ConcordInspector
  import Dispatch
  import Foundation
  import Synchronization

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  extension Row {
    /// A store with an inspector, beside one without. Both are built with the inspector's trait.
    static var inspector: [Row] {
      [
        update("update, one observer called at once, beside an inspector", .one, goal: limit),
        update("the same, beside an inspector that records everything", .recordingAll, goal: .none),
        update("the same, after an inspector was stopped, beside a store that never had one", .stopped, goal: limit),
        storeInspected, batchInspected, findInspected, noticeInspected, transactionInspected,
      ]
    }

    private static let limit = Goal.floor(times: 1.1)
    private static let floor = "the same without an inspector, with Concord"

    /// The inspector that one of two stores has.
    private enum Inspection { case one, recordingAll, stopped }

    private static func update(_ name: String, _ inspection: Inspection, goal: Goal) -> Row {
      Row(name, goal: goal, floor: floor) { stopwatch in
        let count = 100_000
        return try sides(inspection) { store in
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
      }
    }

    private static var findInspected: Row {
      Row("find by id among 10,000, and read the value, beside an inspector", goal: limit, floor: floor) { stopwatch in
        let books = Book.samples(10_000)
        let ids = books.map(\.id).shuffled()
        return try sides { store in
          let kept = books.map { store.store($0) }
          return {
            var read = 0
            let time = stopwatch.nanoseconds(per: ids.count) {
              for id in ids { read &+= store.find(Book.self, id: id)?.value.id ?? 0 }
            }
            try expect(read, is: ids.reduce(0, &+), "the sum of the ids found")
            return withExtendedLifetime(kept) { time }
          }
        }
      }
    }

    private static var noticeInspected: Row {
      Row("update, one observer on a queue, beside an inspector", goal: limit, floor: floor) { stopwatch in
        let stopwatch = stopwatch.acrossThreads
        let count = 20_000
        let queue = DispatchQueue(label: "Benchmarks.inspected")
        return try sides(delivery: .queue(queue)) { store in
          let kept = Book.samples(1_000).map { store.store($0) }
          let screen = Screen<Book>()
          let subscription = kept[471].observe { screen.show($0) }
          return {
            let time = stopwatch.nanoseconds(per: count) {
              for index in 0..<count { store.update(Book.self, id: 471) { $0.title = Titles[index] } }
              queue.sync {}
            }
            try expect(screen.value?.title, is: Titles[count - 1], "what the observer saw last")
            return withExtendedLifetime((subscription, kept)) { time }
          }
        }
      }
    }

    private static var transactionInspected: Row {
      Row("100 updates in one transaction, beside an inspector", goal: limit, floor: floor) { stopwatch in
        let count = 1_000
        return try sides { store in
          let kept = Book.samples(1_000).map { store.store($0) }
          return {
            let time = stopwatch.nanoseconds(per: count) {
              for turn in 0..<count {
                store.transaction { tx in
                  for id in 0..<100 { tx.update(Book.self, id: id) { $0.title = Titles[turn + id] } }
                }
              }
            }
            try expect(kept[99].value.title, is: Titles[count - 1 + 99], "what was written last")
            return time
          }
        }
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
    private static func sides(
      _ inspection: Inspection = .one, delivery: EntityStore.Delivery = .immediate,
      _ side: (EntityStore) throws -> () throws -> Double
    ) throws -> Sides {
      let (inspected, plain) = (EntityStore(delivery: delivery), EntityStore(delivery: delivery))
      let inspector = try finished { try await inspect(inspected, inspection) }
      let (concord, floor) = (try side(inspected), try side(plain))
      return Sides {
        try withExtendedLifetime(inspector) { try concord() }
      } floor: {
        try floor()
      }
    }

    private static func inspect(_ store: EntityStore, _ inspection: Inspection) async throws -> Inspector {
      // This is a release build, which has to be told.
      do {
        _ = try await store.inspect()
        throw WrongResult(description: "a release build has an inspector that nobody asked for")
      } catch InspectorError.releaseBuild {}
      let inspector = try await store.inspect(inReleaseBuilds: true)
      switch inspection {
      case .one: break
      case .recordingAll:
        // As the switch on the page does.
        var request = URLRequest(url: inspector.url.appending(path: "api/recording"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(#"{"everything":true}"#.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        try expect((response as? HTTPURLResponse)?.statusCode ?? 0, is: 200, "the answer of the page's server")
      case .stopped: await inspector.stop()
      }
      return inspector
    }

    private static func finished<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
      let done = DispatchSemaphore(value: 0)
      let found = Mutex<Result<R, any Error>?>(nil)
      Task {
        let result: Result<R, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        found.withLock { $0 = result }
        done.signal()
      }
      done.wait()
      guard let result = found.withLock({ $0 }) else { throw WrongResult(description: "no inspector") }
      return try result.get()
    }
  }
#endif
