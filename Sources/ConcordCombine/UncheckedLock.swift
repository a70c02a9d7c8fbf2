#if canImport(Combine) || OpenCombine
  import Foundation

  /// A lock around a value that need not be `Sendable`.
  // Unchecked because `value` is only used under the lock.
  final class UncheckedLock<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
      self.value = value
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
      lock.lock()
      defer { lock.unlock() }
      return body(&value)
    }
  }
#endif
