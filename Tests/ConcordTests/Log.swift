import Synchronization

/// Collects what observers are told, from any thread.
final class Log<Value: Sendable>: Sendable {
  private let entries = Mutex<[Value]>([])

  func append(_ value: Value) { entries.withLock { $0.append(value) } }
  var values: [Value] { entries.withLock { $0 } }
  var count: Int { values.count }
  var last: Value? { values.last }
  func clear() { entries.withLock { $0 = [] } }
}

/// A number that threads may change.
final class Counter: Sendable {
  private let number = Mutex(0)

  @discardableResult
  func increment() -> Int {
    number.withLock {
      $0 += 1
      return $0
    }
  }

  var value: Int { number.withLock { $0 } }
}

/// Something a callback may keep, and let go of.
final class Kept<Value: Sendable>: Sendable {
  private let content = Mutex<Value?>(nil)

  var value: Value? {
    get { content.withLock { $0 } }
    set {
      // What is let go of may call the store, which must not happen inside of the lock.
      let old = content.withLock { content in
        defer { content = newValue }
        return content
      }
      withExtendedLifetime(old) {}
    }
  }
}

/// The error of transactions that are to fail.
struct Refused: Error, Equatable {}
