import Concord
import Dispatch

/// The stores that writers to several of them have for themselves. Which of these is locked first depends on the outbox that is written, so that two
/// such writers would wait for each other; each waits here until it can have all of its stores at once.
///
/// Who writes to one store only waits for that alone, and claims nothing.
final class StoreClaims: Sendable {
  private struct State {
    var claimed: Set<StoreAttachment> = []
    /// In the order in which they came.
    var waiting: [(stores: Set<StoreAttachment>, turn: DispatchSemaphore)] = []

    /// Lets those begin whose stores nobody has, nor waits for who came earlier.
    mutating func letBegin() {
      var taken = claimed
      waiting.removeAll { stores, turn in
        let isNext = taken.isDisjoint(with: stores)
        taken.formUnion(stores)
        if isNext {
          claimed.formUnion(stores)
          turn.signal()
        }
        return isNext
      }
    }
  }

  private let state = Locked(State())

  func claiming<R>(_ stores: Set<StoreAttachment>, _ body: () throws -> R) rethrows -> R {
    let turn = DispatchSemaphore(value: 0)
    state.withLock { state in
      state.waiting.append((stores, turn))
      state.letBegin()
    }
    turn.wait()
    defer {
      state.withLock { state in
        state.claimed.subtract(stores)
        state.letBegin()
      }
    }
    return try body()
  }
}
