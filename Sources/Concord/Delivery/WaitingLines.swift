import Synchronization

/// Lines that have something to deliver: so a commit need not ask each line whether it has.
final class WaitingLines: Sendable {
  private let lock = Lock()
  private let isEmpty = Atomic(true)
  // Unsafe to the compiler, which cannot see that it is used only while `lock` is held.
  nonisolated(unsafe) private var lines: ContiguousArray<DeliveryLine> = []

  /// A line that had nothing to deliver has. The line's lock is held.
  func append(_ line: DeliveryLine) {
    lock.withLock {
      lines.append(line)
      isEmpty.store(false, ordering: .relaxed)
    }
  }

  /// Those that the calling thread is to let deliver. What it appended itself is among them, unless another thread took it.
  @inline(__always) func takeAll() -> ContiguousArray<DeliveryLine> {
    isEmpty.load(ordering: .relaxed) ? [] : takeSome()
  }

  @inline(never) private func takeSome() -> ContiguousArray<DeliveryLine> {
    lock.withLock {
      defer { lines = [] }
      isEmpty.store(true, ordering: .relaxed)
      return lines
    }
  }
}
