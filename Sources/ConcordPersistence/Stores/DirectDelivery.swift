import Foundation

/// The delivery of events on the thread that tells them, once that has told all.
///
/// A thread that has nothing else to do before observers know delivers itself, where each queue would have to be woken first. A queue that is
/// at work delivers what it is told meanwhile, as always.
// Unchecked, because the compiler cannot see that it is used by its thread only.
package final class DirectDelivery: @unchecked Sendable {
  @TaskLocal static var entered: DirectDelivery?
  private let thread = pthread_self()
  private let state = ThreadValueState()
  private var waiting: [() -> Void] = []
  /// Whether the next reading is that of a view which shows what it was told.
  private var isShowing = false

  private init() {}

  /// The delivery of this thread. A task that an observer begins inherits the value, but not the thread.
  static var current: DirectDelivery? {
    guard let entered, pthread_equal(entered.thread, pthread_self()) != 0, !entered.state.isEnded else { return nil }
    return entered
  }

  /// Runs a closure that tells feeds of events, and then delivers these on this thread.
  package static func run<R>(_ body: () throws -> R) rethrows -> R {
    if current != nil { return try body() }
    let delivery = DirectDelivery()
    return try $entered.withValue(delivery) {
      // What was told before an error is delivered all the same.
      defer {
        delivery.deliver()
        delivery.state.isEnded = true
      }
      return try body()
    }
  }

  /// Runs a closure whose first reading shows what this thread was told.
  static func showing<R>(_ body: () throws -> R) rethrows -> R {
    guard let current else { return try body() }
    current.isShowing = true
    defer { current.isShowing = false }
    return try body()
  }

  /// Whether a reading that begins now shows what this thread was told. A store need not read a later state then than the one that it has
  /// told.
  package static func takeShowing() -> Bool {
    guard let current, current.isShowing else { return false }
    current.isShowing = false
    return true
  }

  /// Adds what a feed has to deliver.
  func add(_ deliver: @escaping () -> Void) { waiting.append(deliver) }

  /// Observers tell further feeds.
  private func deliver() {
    while !waiting.isEmpty { waiting.removeFirst()() }
  }
}
