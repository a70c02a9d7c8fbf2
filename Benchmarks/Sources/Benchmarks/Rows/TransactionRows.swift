import Concord
import Dispatch

extension Row {
  /// What an open transaction costs those who read meanwhile, and they it; and removing many entities in one.
  static var transactions: [Row] {
    [transactionWithReader, longTransactionWithReader, readDuringTransaction, removeMany]
  }

  private static var transactionWithReader: Row {
    Row(
      "64,000 updates in one transaction, while another thread reads", goal: .milliseconds(150), was: "15 s",
      floor: "64,000 updates of a Dictionary behind one lock, while another thread reads", repetitions: 5
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      let updates = Updates()
      let stored = PlainStore(updates.books)
      var turn = 0
      return Sides {
        try updates.commitBesidesReader(stopwatch)
      } floor: {
        turn += 1
        let title = Titles[turn]
        let ids = updates.books.map(\.id)
        let time = Competition.measure(besides: { blackHole(stored.find(ids[$0 % ids.count])) }) { competition in
          competition.begin()
          return stopwatch.nanoseconds { for id in ids { stored.update(id) { $0.title = title } } }
        }
        for id in ids { try expect(stored.find(id)?.title, is: title, "the title in the Dictionary") }
        return time
      }
    }
  }

  /// What is read must not cost more the more the transaction has written.
  private static var longTransactionWithReader: Row {
    Row(
      "the same, beside eight transactions of 8,000", goal: .floor(times: 2),
      floor: "Concord, with eight transactions for as many updates", repetitions: 5
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      let (one, eight) = (Updates(), Updates())
      return Sides {
        try one.commitBesidesReader(stopwatch)
      } floor: {
        try eight.commitBesidesReader(stopwatch, transactions: 8)
      }
    }
  }

  private static var readDuringTransaction: Row {
    Row(
      "read while a transaction with 64,000 updates of another thread is open", goal: .floor(times: 3), was: "15 µs",
      floor: "copies the value out of a Dictionary of 64,000"
    ) { stopwatch in
      let updates = Updates()
      let stored = Dictionary(uniqueKeysWithValues: updates.books.map { ($0.id, $0) })
      // As many as the caches hold, with all that is read: else the machine's memory is measured.
      let ids = Array(updates.books.indices.shuffled().prefix(250))
      return Sides {
        try updates.whileOpen {
          // Into the caches, as the Dictionary is.
          for id in ids { blackHole(updates.kept[id].value) }
          let time = stopwatch.nanoseconds(per: ids.count) {
            for id in ids { blackHole(updates.kept[id].value) }
          }
          try expect(updates.kept[ids[0]].value.title, is: updates.committed, "the title that a reader saw")
          return time
        }
      } floor: {
        var read = 0
        let time = stopwatch.nanoseconds(per: ids.count) {
          for id in ids {
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

  private static var removeMany: Row {
    Row(
      "remove 100 of the 10,000 in an aggregate, in one transaction", goal: .milliseconds(5), was: "221 ms",
      floor: "takes them out of a Dictionary, and out of the parent's array with removeAll(where:)", repetitions: 11
    ) { stopwatch in
      let shelf = Shelf.sample(books: 10_000)
      let removed = Set((0..<100).map { $0 * 97 })
      return Sides {
        let store = EntityStore(delivery: .immediate)
        let kept = store.store(shelf)
        var left: Shelf?
        let time = stopwatch.nanoseconds {
          store.transaction { tx in for id in removed { tx.remove(Book.self, id: id) } }
          left = kept.value
        }
        try expect(left?.books == shelf.books.filter { !removed.contains($0.id) }, "not the right books are left")
        return time
      } floor: {
        var stored = Dictionary(uniqueKeysWithValues: shelf.books.map { ($0.id, $0) })
        var shelves = [shelf.id: shelf]
        let time = stopwatch.nanoseconds(on: &shelves) { shelves in
          for id in removed { stored[id] = nil }
          shelves.inPlace(shelf.id) { $0.books.removeAll { removed.contains($0.id) } }
        }
        try expect(shelves[shelf.id]?.books.count, is: shelf.books.count - removed.count, "books left")
        return time
      }
    }
  }
}

/// 64,000 entities that a transaction updates.
///
/// Unchecked because the thread that measures starts the other one, and waits for it, before it changes anything.
private final class Updates: @unchecked Sendable {
  let books = Book.samples(64_000)
  let store = EntityStore(delivery: .immediate)
  let kept: [EntityObserver<Book>]
  private var turn = 0

  init() {
    kept = books.map { [store] in store.store($0) }
    for book in books { store.update(Book.self, id: book.id) { $0.title = committed } }
  }

  /// The title that all of them have.
  var committed: String { Titles[turn] }

  /// Updates all of them in one transaction, or in several, and measures it, while another thread reads.
  func commitBesidesReader(_ stopwatch: Stopwatch, transactions: Int = 1) throws -> Double {
    turn += 1
    let kept = kept
    let time = Competition.measure(besides: { blackHole(kept[$0 % kept.count].value) }) { competition in
      competition.begin()
      return stopwatch.nanoseconds {
        for start in stride(from: 0, to: books.count, by: books.count / transactions) {
          store.transaction { tx in
            for book in books[start..<start + books.count / transactions] {
              tx.update(Book.self, id: book.id) { $0.title = committed }
            }
          }
        }
      }
    }
    for observer in kept { try expect(observer.value.title, is: committed, "the title after the transaction") }
    return time
  }

  /// Returns what `work` does while a transaction that updated all of them is open on another thread.
  func whileOpen<Result>(_ work: () throws -> Result) throws -> Result {
    let next = Titles[turn + 1]
    let open = DispatchSemaphore(value: 0)
    let enough = DispatchSemaphore(value: 0)
    let group = DispatchGroup()
    DispatchQueue.global(qos: .userInitiated).async(group: group) { [self] in
      store.transaction { tx in
        for book in books { tx.update(Book.self, id: book.id) { $0.title = next } }
        open.signal()
        enough.wait()
      }
    }
    open.wait()
    defer {
      enough.signal()
      group.wait()
      turn += 1
    }
    return try work()
  }
}
