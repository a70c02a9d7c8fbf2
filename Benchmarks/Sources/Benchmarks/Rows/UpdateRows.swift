import Concord
import Dispatch
import Synchronization

extension Row {
  static var updateObserved: Row {
    updateObserved("update, one observer called at once", was: "0.28 µs", earlier: .cohesionKit(2.8e3, "on a queue"))
  }

  /// A commit that asks each actor whether there is something to tell it costs the more the more there are.
  static var updateBesideActors: Row {
    updateObserved("the same, while 9,999 actors observe the others", was: "3.23 ms", actors: 9_999)
  }

  private static func updateObserved(
    _ name: String, was: String? = nil, earlier: Earlier? = nil, actors: Int = 0
  ) -> Row {
    Row(
      name, goal: .floor(times: 4), was: was, earlier: earlier,
      floor:
        "changes a value in place in a Dictionary of 10,000, then calls the closure kept for its id"
    ) { stopwatch in
      let books = Book.samples(10_000)
      let count = 10_000
      let id = 4711

      let store = EntityStore(delivery: .immediate)
      let kept = books.map { store.store($0) }
      let screen = Screen<Book>()
      let subscription = kept[id].observe { screen.show($0) }
      let others = Listener.each(of: kept.filter { $0.value.id != id }.prefix(actors))

      var stored = Dictionary(uniqueKeysWithValues: books.map { ($0.id, $0) })
      let floorScreen = Screen<Book>()
      let observers = Observers<Book>()
      for book in books { observers.observe(book.id) { floorScreen.show($0) } }

      return Sides {
        let calls = screen.calls
        let time = stopwatch.nanoseconds(per: count) {
          for index in 0..<count { store.update(Book.self, id: id) { $0.title = Titles[index] } }
        }
        try expect(screen.calls - calls, is: count, "calls of the observer")
        try expect(screen.value?.title, is: Titles[count - 1], "what the observer saw last")
        return withExtendedLifetime((subscription, others)) { time }
      } floor: {
        let calls = floorScreen.calls
        let time = stopwatch.nanoseconds(per: count, on: &stored) { stored in
          for index in 0..<count {
            stored.inPlace(id) {
              $0.title = Titles[index]
              observers.notify(id, $0)
            }
          }
        }
        try expect(floorScreen.calls - calls, is: count, "calls of the closure")
        try expect(floorScreen.value?.title, is: Titles[count - 1], "what the closure saw last")
        return time
      }
    }
  }

  static var updateOnQueue: Row {
    updateOnQueue(
      "update, one observer on a queue, pipelined", was: "0.58 µs", earlier: .cohesionKit(2.8e3),
      observe: { observer, screen in observer.observeEach { screen.show($0) } },
      isDone: { $0 == $1 })
  }

  static var updateOnQueueNewest: Row {
    updateOnQueue(
      "the same, told the newest value only",
      observe: { observer, screen in observer.observe { screen.show($0) } },
      isDone: { (1...$1).contains($0) })
  }

  /// Observes on a queue, and says whether the observer was called often enough: the first number is how often it was,
  /// the second how many updates there were.
  private static func updateOnQueue(
    _ name: String, was: String? = nil, earlier: Earlier? = nil,
    observe: @escaping (EntityObserver<Book>, Screen<Book>) -> Subscription,
    isDone: @escaping (Int, Int) -> Bool
  ) -> Row {
    Row(
      name, goal: .floor(times: 2), was: was, earlier: earlier,
      floor: """
        changes a value in place in a Dictionary of 10,000, then hands it to a closure with DispatchQueue.async; until \
        the last call has returned
        """
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      let books = Book.samples(10_000)
      let count = 20_000
      let id = 4711

      let concordQueue = DispatchQueue(label: "Benchmarks.concord")
      let store = EntityStore(queue: concordQueue)
      let kept = books.map { store.store($0) }
      let screen = Screen<Book>()
      let subscription = observe(kept[id], screen)

      var stored = Dictionary(uniqueKeysWithValues: books.map { ($0.id, $0) })
      let floorScreen = Screen<Book>()
      let queue = DispatchQueue(label: "Benchmarks.floor")
      var turn = 0

      return Sides {
        let calls = screen.calls
        turn += 1
        let last = "The title that came last in turn \(turn)"
        let time = try stopwatch.nanoseconds(per: count) {
          for index in 1..<count { store.update(Book.self, id: id) { $0.title = Titles[index] } }
          store.update(Book.self, id: id) { $0.title = last }
          try concordQueue.wait(until: { screen.value?.title == last })
        }
        let made = screen.calls - calls
        try expect(isDone(made, count), "\(made) calls of the observer for \(count) updates")
        return withExtendedLifetime(subscription) { time }
      } floor: {
        floorScreen.expectCalls(count)
        let time = try stopwatch.nanoseconds(per: count, on: &stored) { stored in
          for index in 0..<count {
            stored.inPlace(id) {
              $0.title = Titles[index]
              queue.async { [book = $0] in floorScreen.show(book) }
            }
          }
          try floorScreen.wait()
        }
        try expect(floorScreen.value?.title, is: Titles[count - 1], "what the closure saw last")
        return time
      }
    }
  }
}

/// Observes on itself, as long as the subscription is kept.
private actor Listener {
  private var calls = 0

  private func observe(_ observer: EntityObserver<Book>) -> Subscription { observer.observe { _ in self.calls += 1 } }

  /// One for each; all observe when this returns.
  static func each(of observers: some Sequence<EntityObserver<Book>>) -> [Subscription] {
    let group = DispatchGroup()
    let made = Made()
    for observer in observers {
      group.enter()
      Task.detached { @Sendable in
        let subscription = await Listener().observe(observer)
        made.subscriptions.withLock { $0.append(subscription) }
        group.leave()
      }
    }
    group.wait()
    return made.subscriptions.withLock { $0 }
  }

  private final class Made: Sendable { let subscriptions = Mutex<[Subscription]>([]) }
}
