import Concord
import Synchronization

extension Row {
  /// By immediate delivery each thread delivers what it committed itself, and not what others commit meanwhile: where it
  /// did, an update took as long as the other thread went on, for instance 16 s.
  static var updateWhileOthersCommit: Row {
    Row(
      "update, one observer called at once, while another thread commits", goal: .floor(times: 3), was: "15 ms",
      floor: "two threads assign values to a Dictionary, and call the closure kept for the id, behind one lock",
      repetitions: 41
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      // Few, and measured often: how two threads meet at a lock is a matter of luck.
      let count = 20
      // The other thread ends, so that also a store that delivers for everybody comes to an end.
      let limit = 100_000
      let books = Book.samples(2)
      let store = EntityStore(delivery: .immediate)
      let kept = books.map { store.store($0) }
      let desks = books.map { _ in Desk() }
      let subscriptions = zip(kept, desks).map { observer, desk in observer.observe { desk.show($0) } }

      let stored = PlainStore(books)
      let floorDesks = books.map { _ in Desk() }
      for (book, desk) in zip(books, floorDesks) { stored.observe(book.id) { desk.show($0) } }

      return Sides {
        let calls = desks[0].calls
        let time = Competition.measure(
          besides: { index in store.update(Book.self, id: 1) { $0.title = Titles[index] } }, limit: limit
        ) { competition in
          desks[0].willBegin(competition)
          return stopwatch.nanoseconds(per: count) {
            for index in 0..<count { store.update(Book.self, id: 0) { $0.title = Titles[index] } }
          }
        }
        store.settle()
        try expect(desks[0].calls - calls, is: count, "calls of the observer")
        try expect(kept[0].value.title, is: Titles[count - 1], "the title")
        return withExtendedLifetime(subscriptions) { time }
      } floor: {
        let calls = floorDesks[0].calls
        let time = Competition.measure(
          besides: { index in stored.storeAndNotify(books[1].with(title: Titles[index])) }, limit: limit
        ) { competition in
          floorDesks[0].willBegin(competition)
          return stopwatch.nanoseconds(per: count) {
            for index in 0..<count { stored.storeAndNotify(books[0].with(title: Titles[index])) }
          }
        }
        try expect(floorDesks[0].calls - calls, is: count, "calls of the closure")
        return time
      }
    }
  }
}

/// An observer that takes longer than a commit. In its next call it lets another thread begin, so that this one is
/// delivering when the other commits for the first time.
private final class Desk: Sendable {
  private let counter = Atomic(0)
  private let next = Mutex<Competition?>(nil)

  var calls: Int { counter.load(ordering: .acquiring) }

  func willBegin(_ competition: Competition) { next.withLock { $0 = competition } }

  func show(_ book: Book) {
    counter.add(1, ordering: .acquiringAndReleasing)
    let competition = next.withLock { next in
      defer { next = nil }
      return next
    }
    competition?.begin()
    var hasher = Hasher()
    for _ in 0..<200 { hasher.combine(book.title) }
    blackHole(hasher.finalize())
  }
}
