/// The log entries of the open transaction, for the logger after the transaction. A part of it that throws removes its entries.
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

  /// Adds a closure that is called after the transaction without the lock, also if there is no logger; not if it is undone.
  func appendEnd(_ body: @escaping () -> Void) {
    entries.append { _ in body() }
    backlog.add()
  }

  /// Removes all but the first `count` entries.
  func truncate(to count: Int) { entries.removeSubrange(min(count, entries.count)...) }

  /// Removes all entries, and returns a closure that passes them to the logger, to be called without the lock.
  func takeAll() -> () -> Void {
    guard !entries.isEmpty else { return {} }
    let taken = entries
    let logger = logger ?? NoLogger()
    entries = []
    return { for entry in taken { entry(logger) } }
  }

  /// Returns a closure that reports a stall, to be called without the lock, and at once, since a stalled transaction may
  /// never end.
  func stall(_ duration: Duration) -> () -> Void {
    if let logger { return { logger.didStall(for: duration) } }
    defer { wroteStall = true }
    return wroteStall ? {} : { Stall.writeToStandardError(duration) }
  }

  var isEmpty: Bool { entries.isEmpty }
}

private struct NoLogger: EntityStoreLogger {}
