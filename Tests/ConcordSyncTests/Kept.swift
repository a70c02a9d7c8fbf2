import Synchronization

/// A value that any thread may change.
final class Kept<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>

  init(_ value: Value) { mutex = Mutex(value) }

  func withLock<R: Sendable>(_ body: (inout Value) throws -> R) rethrows -> R {
    try mutex.withLock { value in
      var copy = value
      defer { value = copy }
      return try body(&copy)
    }
  }
}
