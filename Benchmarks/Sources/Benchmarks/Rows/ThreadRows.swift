import Concord
import Dispatch
import Synchronization

extension Row {
  private static let operations = 100_000
  private static let entities = 1_000

  static var twoThreads: Row {
    Row(
      "two threads, mixed store and find", goal: Goal(timesFloor: 3, time: 400), was: "0.24 µs",
      earlier: .cohesionKit(3.1e3, "crashes when observed"),
      floor: "two threads assign values to, and read values from, a Dictionary of 1,000 behind one lock, in turn"
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      let books = Book.samples(entities)
      let store = EntityStore(delivery: .immediate)
      let kept = books.map { store.store($0) }
      let stored = PlainStore(books)
      return Sides {
        let read = Counter()
        let time = stopwatch.nanoseconds(per: 2 * operations) {
          onTwoThreads { thread in
            var found = 0
            for index in 0..<operations {
              let book = books[place(index, thread)]
              if index % 2 == 0 {
                store.store(book)
              } else if let value = store.find(Book.self, id: book.id)?.value {
                blackHole(value)
                found += 1
              }
            }
            read.add(found)
          }
        }
        try expect(read.value, is: operations, "books found")
        return withExtendedLifetime(kept) { time }
      } floor: {
        let read = Counter()
        let time = stopwatch.nanoseconds(per: 2 * operations) {
          onTwoThreads { thread in
            var found = 0
            for index in 0..<operations {
              let book = books[place(index, thread)]
              if index % 2 == 0 {
                stored.store(book)
              } else if let value = stored.find(book.id) {
                blackHole(value)
                found += 1
              }
            }
            read.add(found)
          }
        }
        try expect(read.value, is: operations, "books found")
        return time
      }
    }
  }

  static var twoThreadsObserved: Row {
    Row(
      "the same, every entity observed, every store a change", goal: .passing("no crash, all agree"), was: "0.40 µs",
      floor: "as before, and calls the closure kept for the id after each assignment, behind the lock"
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      let books = Book.samples(entities)
      let store = EntityStore(delivery: .immediate)
      let kept = books.map { store.store($0) }
      let screens = books.map { _ in Screen<Book>() }
      let subscriptions = zip(kept, screens).map { observer, screen in observer.observe { screen.show($0) } }

      let stored = PlainStore(books)
      let floorScreens = books.map { _ in Screen<Book>() }
      for (book, screen) in zip(books, floorScreens) { stored.observe(book.id) { screen.show($0) } }
      return Sides {
        let time = stopwatch.nanoseconds(per: 2 * operations) {
          onTwoThreads { thread in
            for index in 0..<operations {
              var book = books[place(index, thread)]
              if index % 2 == 0 {
                book.title = Titles[index / 2 + thread]
                store.store(book)
              } else {
                blackHole(store.find(Book.self, id: book.id)?.value)
              }
            }
          }
        }
        // Nobody writes any more; what was committed while a thread was telling its own is told by one of the store's.
        store.settle()
        for (observer, screen) in zip(kept, screens) {
          try expect(screen.value, is: observer.value, "what an observer saw last")
        }
        return withExtendedLifetime(subscriptions) { time }
      } floor: {
        let time = stopwatch.nanoseconds(per: 2 * operations) {
          onTwoThreads { thread in
            for index in 0..<operations {
              var book = books[place(index, thread)]
              if index % 2 == 0 {
                book.title = Titles[index / 2 + thread]
                stored.storeAndNotify(book)
              } else {
                blackHole(stored.find(book.id))
              }
            }
          }
        }
        for (book, screen) in zip(books, floorScreens) where screen.calls > 0 {
          try expect(screen.value, is: stored.find(book.id), "what a closure saw last")
        }
        return time
      }
    }
  }

  /// Which entity a thread uses next; the two threads meet everywhere.
  private static func place(_ index: Int, _ thread: Int) -> Int { (index &* 7_919 &+ thread &* 104_729) % entities }

  private static func onTwoThreads(_ work: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for thread in 0..<2 {
      DispatchQueue.global(qos: .userInitiated).async(group: group) { work(thread) }
    }
    group.wait()
  }
}

/// A number that threads add to.
final class Counter: Sendable {
  private let sum = Atomic(0)

  var value: Int { sum.load(ordering: .acquiring) }

  func add(_ number: Int) { sum.add(number, ordering: .acquiringAndReleasing) }
}
