import Concord
import Foundation

extension ConsistentMerge {
  /// Runs a closure one object deeper. A long chain of objects continues on another thread's stack, so that its length does
  /// not matter.
  @usableFromInline
  func deeper<Result>(_ walk: () -> Result) -> Result {
    depth += 1
    defer { depth -= 1 }
    return depth.isMultiple(of: 128) ? onFreshStack(walk) : walk()
  }

  private func onFreshStack<Result>(_ walk: () -> Result) -> Result {
    withoutActuallyEscaping(walk) { walk in
      let work = Locked<(() -> Result)?>(walk)
      let result = Locked<Result?>(nil)
      let done = DispatchSemaphore(value: 0)
      let thread = Thread {
        Self.run(work, result)
        done.signal()
      }
      thread.stackSize = 16 << 20
      thread.start()
      done.wait()
      return result.withLock { $0 } ?? walk()
    }
  }

  /// Runs the work. A separate function, so that nothing refers to the work when it returns.
  private static func run<Result>(_ work: Locked<(() -> Result)?>, _ result: Locked<Result?>) {
    guard let walk = work.withLock({ $0 }) else { return }
    work.withLock { $0 = nil }
    let value = walk()
    result.withLock { $0 = value }
  }
}
