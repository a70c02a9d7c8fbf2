import Dispatch

/// What an observer does in these measurements: it keeps the value it was given, and counts.
///
/// Unchecked because one observer's calls never overlap, and the figures are read when the last call has returned.
final class Screen<Value>: @unchecked Sendable {
  private(set) var calls = 0
  private(set) var value: Value?
  private var awaited = Int.max
  private let arrived = DispatchSemaphore(value: 0)

  func show(_ value: Value) {
    self.value = value
    calls += 1
    if calls == awaited { arrived.signal() }
  }

  /// Says for which call `wait()` waits; before that call can come.
  func expectCalls(_ count: Int) { awaited = calls + count }

  func wait() throws {
    try expect(arrived.wait(timeout: .now() + 10) == .success, "a call of an observer did not come in ten seconds")
  }
}
