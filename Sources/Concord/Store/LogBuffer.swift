/// What the logger is to be told when the transaction is over. A part of a transaction that throws takes its entries back.
@usableFromInline final class LogBuffer {
  private let logger: (any EntityStoreLogger)?
  private var entries: [(any EntityStoreLogger) -> Void] = []
  /// Used in debug builds only.
  private(set) lazy var unrelated = UnrelatedEntities()

  init(_ logger: (any EntityStoreLogger)?) { self.logger = logger }

  @usableFromInline var isWanted: Bool { logger != nil }
  var count: Int { entries.count }

  @usableFromInline func append(_ entry: @autoclosure () -> ((any EntityStoreLogger) -> Void)?) {
    if logger != nil, let entry = entry() { entries.append(entry) }
  }

  func append(_ event: LogEvent, _ node: Node) { append(node.table.log(event, node)) }

  /// Takes back all but the first `count` entries.
  func truncate(to count: Int) { entries.removeSubrange(min(count, entries.count)...) }

  /// What is to be called without the lock.
  func takeAll() -> () -> Void {
    guard let logger, !entries.isEmpty else { return {} }
    let taken = entries
    entries = []
    return { for entry in taken { entry(logger) } }
  }

  var isEmpty: Bool { entries.isEmpty }
}
