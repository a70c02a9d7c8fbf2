import Dispatch
import Foundation

/// A timer that calls a closure again and again, on some thread, for as long as it is retained.
final class RepeatingTimer: Sendable {
  // It never changes, and any thread may cancel it.
  private nonisolated(unsafe) let source: any DispatchSourceTimer

  /// Starts the timer.
  ///
  /// - Parameters:
  ///   - interval: the seconds before the first call, and between the calls.
  ///   - body: the closure.
  init(every interval: TimeInterval, _ body: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    source.setEventHandler(handler: body)
    source.schedule(deadline: .now() + interval, repeating: interval)
    source.resume()
  }

  deinit { source.cancel() }
}
