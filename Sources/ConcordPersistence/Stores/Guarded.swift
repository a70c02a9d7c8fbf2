import Foundation

/// A value behind a lock.
// Unchecked, because the compiler cannot see that the lock guards the value. It is not a `Mutex`, since the thread sanitizer
// does not see into that.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: sending Value) { self.value = value }

  func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
