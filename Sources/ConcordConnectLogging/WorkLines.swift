import ConcordConnect
import Logging

/// The line of each event.
struct WorkLines: Sendable {
  let logger: Logger
  let level: Logger.Level
  let failures: Logger.Level

  func write(_ event: ActionEvent) {
    let proxy = event.proxy
    switch event {
    case .started: logger.log(level: level, "began an action", metadata: ["action": "\(proxy.actionType)"])
    case .finished:
      switch proxy.completionStatus {
      case .failed: logger.log(level: failures, "an action failed", metadata: metadata(proxy))
      case .canceled: logger.log(level: level, "cancelled an action", metadata: metadata(proxy))
      case .successful, .unknown: logger.log(level: level, "finished an action", metadata: metadata(proxy))
      }
    }
  }

  func write(_ event: OutboxEvent) {
    switch event {
    case .forwarded(let entry): logger.log(level: level, "forwarded an action", metadata: metadata(entry))
    case .sending(let entry): logger.log(level: level, "sends an action", metadata: metadata(entry))
    case .delayed(let entry, let error, let delay):
      var metadata = metadata(entry, error)
      metadata["attempts"] = "\(entry.attempts)"
      metadata["retryIn"] = "\(delay)"
      logger.log(level: failures, "failed to send an action, and tries again", metadata: metadata)
    case .accepted(let entry): logger.log(level: level, "the service accepted an action", metadata: metadata(entry))
    case .notApplied(let entry, let error):
      logger.log(
        level: failures, "the service accepted an action that does not apply here any longer",
        metadata: metadata(entry, error))
    case .refused(let letter):
      var metadata = metadata(letter.entry)
      metadata["attempts"] = "\(letter.entry.attempts)"
      logger.log(level: failures, "an action was refused, and is a dead letter", metadata: metadata)
    case .retried(let entry): logger.log(level: level, "a dead letter is sent again", metadata: metadata(entry))
    case .dropped(let entry): logger.log(level: failures, "an action was given up", metadata: metadata(entry))
    case .unknown(let entry):
      logger.log(level: failures, "an action waits whose type is not registered", metadata: metadata(entry))
    case .cleared: logger.log(level: failures, "the outbox was cleared")
    }
  }

  private func metadata(_ proxy: any ActionProxy) -> Logger.Metadata {
    var metadata = proxy.error?.logMetadata ?? [:]
    let statistics = proxy.statistics
    metadata["action"] = "\(proxy.actionType)"
    metadata["seconds"] = "\(statistics.executionTime)"
    if let work = statistics.contextStatistics {
      metadata["inserted"] = "\(work.inserts)"
      metadata["updated"] = "\(work.updates)"
      metadata["deleted"] = "\(work.deletes)"
      metadata["read"] = "\(work.fetches)"
    }
    return metadata
  }

  private func metadata(_ entry: OutboxEntry, _ error: (any Error)? = nil) -> Logger.Metadata {
    var metadata = error?.logMetadata ?? [:]
    metadata["action"] = "\(entry.name)"
    // The type only: an id may be somebody's address.
    metadata["entity"] = "\(entry.entity.prefix { $0 != " " })"
    // Who has the whole key could send it.
    metadata["key"] = "\(entry.key.rawValue.prefix(8))"
    return metadata
  }
}
