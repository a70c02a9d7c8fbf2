import Synchronization

/// The lines that have work, so that a commit need not ask each line.
final class WaitingLines: Sendable {
  private let lock = Lock()
  private let isEmpty = Atomic(true)
  // Unsafe to the compiler, which cannot see that it is used only while `lock` is held.
  nonisolated(unsafe) private var lines: ContiguousArray<DeliveryLine> = []

  /// Adds a line that has work now. The line's lock is held.
  func append(_ line: DeliveryLine) {
    lock.withLock {
      lines.append(line)
      isEmpty.store(false, ordering: .relaxed)
    }
  }

  /// Removes and returns the lines that the calling thread is to serve. Those that it added itself are among them, unless
  /// another thread took them.
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
