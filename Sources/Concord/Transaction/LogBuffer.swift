/// What the logger is to be told when the transaction is over. A part of a transaction that throws takes its entries back.
@usableFromInline final class LogBuffer {
  private let logger: (any EntityStoreLogger)?
  private let backlog: Backlog
  @exclusivity(unchecked) private var entries: [(any EntityStoreLogger) -> Void] = []
  private var wroteStall = false

  init(_ logger: (any EntityStoreLogger)?, _ backlog: Backlog) {
    self.logger = logger
    isWanted = logger != nil
    self.backlog = backlog
  }

  @usableFromInline let isWanted: Bool
  var count: Int { entries.count }

  @usableFromInline func append(_ entry: @autoclosure () -> ((any EntityStoreLogger) -> Void)?) {
    guard isWanted, let entry = entry() else { return }
    entries.append(entry)
    backlog.add()
  }

  /// Takes back all but the first `count` entries.
  func truncate(to count: Int) { entries.removeSubrange(min(count, entries.count)...) }

  /// What is to be called without the lock.
  func takeAll() -> () -> Void {
    guard let logger, !entries.isEmpty else { return {} }
    let taken = entries
    entries = []
    return { for entry in taken { entry(logger) } }
  }

  /// What is to be called without the lock, and at once, since a stalled transaction may never end.
  func stall(_ duration: Duration) -> () -> Void {
    if let logger { return { logger.didStall(for: duration) } }
    defer { wroteStall = true }
    return wroteStall ? {} : { Stall.writeToStandardError(duration) }
  }

  var isEmpty: Bool { entries.isEmpty }
}
