public import ConcordConnect
public import Logging

/// The lines that the work of a `Connect` writes to a swift-log `Logger`: its actions, and the events of its outbox.
///
/// ```swift
/// connect.log(to: Logger(label: "shop.work"))
/// ```
///
/// The lines have a fixed message and further values as metadata (`action`, `entity`, `key`, `seconds`, `inserted`, `updated`, `deleted`,
/// `read`, `error`, `code`, `attempts`, `retryIn`). They have no values of entities, no ids, no texts of errors or of answers, and of an
/// idempotency key the beginning only.
public final class WorkLog: Sendable {
  private let tasks: [Task<Void, Never>]

  init(_ tasks: [Task<Void, Never>]) { self.tasks = tasks }

  /// Ends the lines. Without it they end when the `Connect` is released.
  public func stop() { for task in tasks { task.cancel() } }
}

extension Connect {
  /// Writes a line for each action that begins or ends from now on, and for each event of the outbox.
  ///
  /// ```swift
  /// connect.log(to: Logger(label: "shop.work"))
  /// ```
  ///
  /// The lines are written in the order of the events of the actions, and in that of the events of the outbox, soon after these. If more
  /// than 1,024 of either wait for a slow log handler, the earliest are dropped.
  ///
  /// - Parameters:
  ///   - logger: Where the lines go.
  ///   - level: The level of what happens all the time: an action begins, ends or is cancelled, one is forwarded, sent or accepted.
  ///   - failures: The level of what fails: an action that threw, an attempt to send that failed, a refused action that is a dead letter
  ///     now.
  /// - Returns: what ends the lines; it need not be kept.
  @discardableResult
  public func log(to logger: Logger, level: Logger.Level = .debug, failures: Logger.Level = .warning) -> WorkLog {
    let lines = WorkLines(logger: logger, level: level, failures: failures)
    let (actions, events) = (actionEvents, outbox.events)
    return WorkLog([
      Task { for await event in actions { lines.write(event) } },
      Task { for await event in events { lines.write(event) } },
    ])
  }
}
