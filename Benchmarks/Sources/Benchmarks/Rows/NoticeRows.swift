import Concord
import Dispatch

extension Row {
  /// What it costs that an observer's queue is busy. A waiting notice holds no value.
  static var notices: [Row] { [updateChildQueueBusy, heapOfWaitingNotices] }

  private static let updates = 1_000

  private static var updateChildQueueBusy: Row {
    Row(
      "update one child of an aggregate of 10,000, observed on a busy queue", goal: .microseconds(10),
      was: "0.3 ms", earlier: .cohesionKit(10e3),
      floor: "changes the child in place in the parent's array in the Dictionary, and notes that a closure waits"
    ) { stopwatch in
      let shelf = ObservedShelf()
      var shelves = [shelf.value.id: shelf.value]
      var waiting: Set<Int> = []
      var turn = 0
      return Sides {
        try shelf.whileQueueIsBusy { stopwatch.nanoseconds(per: updates) { shelf.update(updates) } }
      } floor: {
        turn += 1
        let title = Titles[turn]
        let time = stopwatch.nanoseconds(per: updates, on: &shelves) { shelves in
          for index in 0..<updates {
            shelves.inPlace(shelf.value.id) { $0.books[ObservedShelf.child(index)].title = title }
            waiting.insert(shelf.value.id)
          }
        }
        try expect(waiting.count, is: 1, "closures that wait")
        return time
      }
    }
  }

  private static var heapOfWaitingNotices: Row {
    Row(
      "heap that 1,000 such updates hold", unit: .bytes, goal: .floor(times: 1.2), was: "320 MB",
      earlier: .cohesionKit(0),
      floor: "one more copy of the aggregate", repetitions: 1
    ) { _ in
      let shelf = ObservedShelf()
      // The first time, what is needed once is allocated.
      _ = try shelf.whileQueueIsBusy { shelf.update(updates) }
      return Sides {
        try shelf.whileQueueIsBusy { Heap.growth(per: 1) { shelf.update(updates) } }
      } floor: {
        var copy = shelf.value
        let growth = Heap.growth(per: 1) { copy.books[0].title = Titles[0] }
        return withExtendedLifetime(copy) { growth }
      }
    }
  }
}

/// An aggregate of 10,000, observed on a queue by somebody who looks at one child and keeps nothing.
private final class ObservedShelf {
  let value = Shelf.sample(books: 10_000)
  private let queue = DispatchQueue(label: "Benchmarks.busy")
  private let store: EntityStore
  private let subscription: Subscription
  private let screen = Screen<String>()
  private var turn = 0

  init() {
    store = EntityStore(queue: queue)
    subscription = store.store(value).observe { [screen] in screen.show($0.books[Self.child(0)].title) }
  }

  /// The children in an order that is not the array's.
  static func child(_ index: Int) -> Int { index &* 37 % 10_000 }

  func update(_ count: Int) {
    turn += 1
    for index in 0..<count { store.update(Book.self, id: Self.child(index)) { $0.title = Titles[turn] } }
  }

  /// Returns what `work` did while nothing else could run on the queue, after the notices of it have come.
  func whileQueueIsBusy<Result>(_ work: () -> Result) throws -> Result {
    let gate = DispatchSemaphore(value: 0)
    queue.async { gate.wait() }
    let result = work()
    gate.signal()
    try queue.wait(until: { [screen, turn] in screen.value == Titles[turn] })
    return result
  }
}
