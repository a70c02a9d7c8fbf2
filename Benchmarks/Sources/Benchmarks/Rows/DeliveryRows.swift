import Concord

extension Row {
  /// By immediate delivery each thread delivers what it committed itself, and not what others commit meanwhile.
  static var updateWhileOthersCommit: Row {
    Row(
      "update, one observer called at once, while another thread commits", goal: .floor(times: 3), was: "16 s",
      floor: "two threads assign values to a Dictionary, and call the closure kept for the id, behind one lock",
      repetitions: 5
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      let count = 1_000
      let books = Book.samples(2)
      let store = EntityStore(delivery: .immediate)
      let kept = books.map { store.store($0) }
      let screens = books.map { _ in Screen<Int>() }
      let subscriptions = zip(kept, screens).map { observer, screen in observer.observe { screen.show(layOut($0)) } }

      let stored = PlainStore(books)
      let floorScreens = books.map { _ in Screen<Int>() }
      for (book, screen) in zip(books, floorScreens) { stored.observe(book.id) { screen.show(layOut($0)) } }

      // The other thread ends, so that also a store that delivers for everybody comes to an end.
      let limit = 100_000
      return Sides {
        let calls = screens[0].calls
        let time = Competition.measure(
          besides: { index in store.update(Book.self, id: 1) { $0.title = Titles[index] } }, limit: limit
        ) {
          stopwatch.nanoseconds(per: count) {
            for index in 0..<count { store.update(Book.self, id: 0) { $0.title = Titles[index] } }
          }
        }
        try expect(screens[0].calls - calls, is: count, "calls of the observer")
        try expect(kept[0].value.title, is: Titles[count - 1], "the title")
        return withExtendedLifetime(subscriptions) { time }
      } floor: {
        let calls = floorScreens[0].calls
        let time = Competition.measure(
          besides: { index in stored.storeAndNotify(books[1].with(title: Titles[index])) }, limit: limit
        ) {
          stopwatch.nanoseconds(per: count) {
            for index in 0..<count { stored.storeAndNotify(books[0].with(title: Titles[index])) }
          }
        }
        try expect(floorScreens[0].calls - calls, is: count, "calls of the closure")
        return time
      }
    }
  }

  /// What an observer does that takes longer than a commit.
  private static func layOut(_ book: Book) -> Int {
    var hasher = Hasher()
    for _ in 0..<200 { hasher.combine(book.title) }
    return hasher.finalize()
  }
}
