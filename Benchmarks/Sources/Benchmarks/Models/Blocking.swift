import Foundation
import Synchronization

/// Runs work of Swift's concurrency, and returns when it is done. It is called by the main thread, on which none of it runs.
func blocking<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
  let done = DispatchSemaphore(value: 0)
  let found = Kept<Result<R, any Error>?>(nil)
  Task.detached {
    let result: Result<R, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    found.withLock { $0 = result }
    done.signal()
  }
  done.wait()
  guard let result = found.withLock({ $0 }) else { throw WrongResult(description: "no result") }
  return try result.get()
}

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
