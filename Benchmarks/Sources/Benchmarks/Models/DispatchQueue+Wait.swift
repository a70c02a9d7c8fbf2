import Dispatch

extension DispatchQueue {
  /// Lets the work on a serial queue go on until a condition holds, which is asked on the queue; for ten seconds at most.
  func wait(until condition: () -> Bool) throws {
    let end = DispatchTime.now() + 10
    while !sync(execute: condition) {
      try expect(DispatchTime.now() < end, "what was awaited on a queue did not come in ten seconds")
    }
  }
}
