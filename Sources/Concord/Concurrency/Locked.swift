/// A value that is accessed under a lock of its own, for the other modules, and for state that no thread waits for.
// Unchecked, because the compiler cannot see that `value` is used only while `lock` is held.
package final class Locked<Value>: @unchecked Sendable {
  @usableFromInline let lock = Lock()
  @usableFromInline var value: Value

  package init(_ value: Value) { self.value = value }

  @inlinable package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}
