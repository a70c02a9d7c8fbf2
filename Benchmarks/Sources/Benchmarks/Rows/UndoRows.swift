import Concord

extension Row {
  /// What it costs to record what can be undone, and to undo it.
  static var undo: [Row] { [transactionWithHistory, recordStep, undoStep] }

  /// A history costs nothing where nothing is recorded.
  private static var transactionWithHistory: Row {
    Row(
      "update one entity in a transaction, in a store with a history of 100 steps", goal: .floor(times: 1.1),
      floor: "the same in a store without a history"
    ) { stopwatch in
      let (edited, plain) = (Edits(), Edits())
      for _ in 0..<100 { edited.record() }
      return Sides {
        edited.measure(stopwatch) { $0.write() }
      } floor: {
        plain.measure(stopwatch) { $0.write() }
      }
    }
  }

  private static var recordStep: Row {
    Row(
      "update one entity of 100,000 in a transaction that is recorded", goal: .floor(times: 4),
      floor: "the same transaction, not recorded"
    ) { stopwatch in
      let (edited, plain) = (Edits(), Edits())
      return Sides {
        edited.measure(stopwatch) { $0.record() }
      } floor: {
        plain.measure(stopwatch) { $0.write() }
      }
    }
  }

  private static var undoStep: Row {
    Row(
      "undo and redo a step of one entity of 100,000", goal: .floor(times: 10),
      floor: "two transactions that update it, not recorded"
    ) { stopwatch in
      let (edited, plain) = (Edits(), Edits())
      edited.record()
      return Sides {
        try edited.measure(stopwatch) { edited in
          try edited.store.undo.undo()
          try edited.store.undo.redo()
        }
      } floor: {
        plain.measure(stopwatch) { plain in
          plain.write()
          plain.write()
        }
      }
    }
  }
}

/// A store in which one entity after another gets a new title.
private final class Edits {
  let store = EntityStore(delivery: .immediate)
  private let kept: [EntityObserver<Book>]
  private let count = 1_000
  private var turn = 0

  init() {
    kept = Book.samples(100_000).map { [store] in store.store($0) }
  }

  private func edit(_ tx: EntityStore) {
    turn += 1
    tx.update(Book.self, id: kept[turn % kept.count].value.id) { $0.title = Titles[turn + turn / kept.count] }
  }

  func write() { store.transaction { edit($0) } }
  func record() { store.undo.record("Rename") { edit($0) } }

  func measure(_ stopwatch: Stopwatch, _ body: (Edits) throws -> Void) rethrows -> Double {
    try stopwatch.nanoseconds(per: count) { for _ in 0..<count { try body(self) } }
  }
}
