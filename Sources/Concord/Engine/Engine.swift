import Foundation
import Synchronization

/// The store behind `EntityStore`: the graph of nodes, and the one lock that guards all of it.
///
/// The lock is held for short, bounded work only. User code (closures of `update`, `ifPresent`, transactions, observers,
/// loggers) runs without it; while a closure runs inside a transaction, `owner` keeps other threads from writing, and they
/// read the last committed state (`Engine+Journal`).
// Unchecked, because the compiler cannot see what a lock guards: every variable is used only while `lock` is held, but for
// `pending`, which has a lock of its own.
@usableFromInline final class Engine: @unchecked Sendable {
  @usableFromInline let lock = Lock()
  @usableFromInline let stamping: EntityStore.Stamping
  @usableFromInline let logger: (any EntityStoreLogger)?
  @usableFromInline let isLogged: Bool
  @usableFromInline let lanes: Lanes

  // The graph.
  @exclusivity(unchecked) @usableFromInline var tables: [ObjectIdentifier: AnyTable] = [:]
  /// Finds most tables without hashing.
  @usableFromInline let tableCache: UnsafeMutablePointer<(key: ObjectIdentifier?, table: Unmanaged<AnyTable>?)>
  /// Which types occur directly in which.
  @exclusivity(unchecked) @usableFromInline var childTables: [ObjectIdentifier: [AnyTable]] = [:]
  @exclusivity(unchecked) @usableFromInline var lastLink: (parent: ObjectIdentifier?, child: ObjectIdentifier?) = (
    nil, nil
  )

  /// The relations of wrappers, by type.
  @exclusivity(unchecked) @usableFromInline var wrapperSchemas: [ObjectIdentifier: AnyObject] = [:]

  // The open transaction.
  /// The thread whose closure is running, and how many are nested; 0 if there is none.
  @exclusivity(unchecked) @usableFromInline var owner: UInt = 0
  @exclusivity(unchecked) @usableFromInline var depth = 0
  @exclusivity(unchecked) @usableFromInline var journal: ContiguousArray<JournalEntry> = []
  @exclusivity(unchecked) @usableFromInline var savepoint: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline var transactionStart: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline var isSuspended = false
  /// The candidates were dirtied by more than plain changes; find out which of them really differ.
  @exclusivity(unchecked) @usableFromInline var needsComparison = false
  @exclusivity(unchecked) @usableFromInline var tainted: ContiguousArray<Node> = []
  @exclusivity(unchecked) @usableFromInline var candidates: ContiguousArray<NodeRef> = []
  @exclusivity(unchecked) @usableFromInline var suspects: ContiguousArray<Node> = []
  @exclusivity(unchecked) @usableFromInline var logs: [() -> Void] = []

  // For those who observe all changes.
  @exclusivity(unchecked) @usableFromInline var changeFeedNode: Node? { didSet { isFed = changeFeedNode != nil } }
  /// Somebody observes all changes.
  @exclusivity(unchecked) @usableFromInline var isFed = false
  @exclusivity(unchecked) @usableFromInline var changeOrigin: ObjectIdentifier?
  @exclusivity(unchecked) var presentChanges: EntityChanges?
  @exclusivity(unchecked) @usableFromInline var written: ContiguousArray<Node> = []

  /// Ended subscribers, their sources, and nodes to be looked at once more, which are destroyed without the lock.
  @exclusivity(unchecked) var graveyard: [AnyObject] = []

  // Counters.
  @exclusivity(unchecked) @usableFromInline var callSerial: UInt32 = 0
  @exclusivity(unchecked) @usableFromInline var writeCount: UInt64 = 0
  @exclusivity(unchecked) @usableFromInline var groupCount: UInt64 = 0
  @exclusivity(unchecked) @usableFromInline var lastTick: Stamp = -.infinity
  @exclusivity(unchecked) @usableFromInline var searchSerial: UInt32 = 0

  // What could not be released at once, because the lock was taken.
  private let pendingLock = Lock()
  @exclusivity(unchecked) private var pending: [Release] = []
  private let pendingCount = Atomic<Int>(0)

  @exclusivity(unchecked) @usableFromInline var markStack: ContiguousArray<NodeRef> = []
  @exclusivity(unchecked) private var idleCall: WriteCall?

  @usableFromInline init(
    delivery: EntityStore.Delivery, stamping: EntityStore.Stamping, logger: (any EntityStoreLogger)?
  ) {
    self.stamping = stamping
    self.logger = logger
    isLogged = logger != nil
    lanes = Lanes(delivery)
    tableCache = .allocate(capacity: Self.cacheSize)
    tableCache.initialize(repeating: (nil, nil), count: Self.cacheSize)
  }

  deinit { tableCache.deallocate() }

  // MARK: Tables

  @inlinable @inline(__always) func table<T: Identifiable & Sendable>(_ type: T.Type) -> Table<T> {
    tableReference(type).takeUnretainedValue()
  }

  /// The same, not counted as a reference: the engine keeps its tables.
  @inlinable @inline(__always)
  func tableReference<T: Identifiable & Sendable>(_ type: T.Type) -> Unmanaged<Table<T>> {
    let key = ObjectIdentifier(type)
    let entry = tableCache[Self.cacheIndex(key)]
    if entry.key == key, let table = entry.table { return .fromOpaque(table.toOpaque()) }
    return findTable(type)
  }

  @inlinable func findTable<T: Identifiable & Sendable>(_ type: T.Type) -> Unmanaged<Table<T>> {
    let key = ObjectIdentifier(type)
    let table = tables[key].map { unsafeDowncast($0, to: Table<T>.self) } ?? Table<T>(engine: self)
    tables[key] = table
    tableCache[Self.cacheIndex(key)] = (key, Unmanaged.passUnretained(table))
    return Unmanaged.passUnretained(table)
  }

  /// The relations of a wrapper's value.
  @inlinable func schema<W: EntityWrapper>(of wrapper: UnsafePointer<W>) -> Schema<W> {
    let known = wrapperSchemas[ObjectIdentifier(W.self)].map { unsafeDowncast($0, to: Schemas<W>.self) }
    return (known ?? makeSchemas()).schema { wrapper.pointee.wrappedEntitiesKeyPaths(relativeTo: \W.self) }
  }

  @inlinable func makeSchemas<W: EntityWrapper>() -> Schemas<W> {
    let schemas = Schemas(fixed: W.fixedRelations)
    wrapperSchemas[ObjectIdentifier(W.self)] = schemas
    return schemas
  }

  @inlinable @inline(__always) static func cacheIndex(_ key: ObjectIdentifier) -> Int {
    let bits = UInt(bitPattern: key)
    return Int(truncatingIfNeeded: (bits >> 4) ^ (bits >> 9)) & (cacheSize - 1)
  }

  @inlinable static var cacheSize: Int { 32 }

  // MARK: Writing

  /// Runs one operation of the store as a transaction, or as a part of the one that is open on this thread.
  @inlinable func write<R>(_ operation: () throws -> R) rethrows -> R {
    lock.lock()
    if owner != 0 { waitForTurn() }
    do {
      let result = try operation()
      finish()
      return result
    } catch {
      finish()
      throw error
    }
  }

  /// Waits until no other thread's transaction is open, and goes back to our own uncommitted state if there is one.
  @usableFromInline func waitForTurn() {
    let me = currentThread()
    while owner != 0 && owner != me { lock.wait() }
    resume()
  }

  /// Ends an operation: commits if it was the outermost, gives the lock back, and delivers.
  @usableFromInline func finish() {
    guard owner == 0 else {
      unlock()
      return
    }
    commit()
    settleUp()
    lanes.deliver()
  }

  /// Runs user code in the middle of an operation, without the lock. What it does to the store joins the transaction.
  @inlinable func unlocked<R>(_ body: () throws -> R) rethrows -> R {
    if owner == 0 {
      owner = currentThread()
      newSavepoint()
      transactionStart = savepoint
    }
    depth += 1
    lock.unlock()
    defer {
      lock.lock()
      depth -= 1
      resume()
      if depth == 0 {
        owner = 0
        lock.wakeAll()
      }
    }
    return try body()
  }

  // MARK: Reading

  /// Runs a reading operation.
  @inlinable func read<R>(_ operation: () -> R) -> R {
    lock.lock()
    if owner != 0, owner == currentThread() { resume() }
    let result = operation()
    unlock()
    return result
  }

  /// Whether this thread must not see the state as it is now, because it is not committed.
  @usableFromInline var seesUncommitted: Bool {
    owner != 0 && owner != currentThread() && !journal.isEmpty && !isSuspended
  }

  /// Whether the open transaction may have something to do with the node's value.
  @usableFromInline func isTouched(_ node: Node) -> Bool {
    node.isDirty || node.journalMark >= transactionStart || node.flags.contains(.tainted)
  }

  /// A node was brought up to date with what may not be committed.
  func taint(_ node: Node) {
    guard !journal.isEmpty, !isSuspended, !node.flags.contains(.tainted) else { return }
    node.flags.insert(.tainted)
    tainted.append(node)
  }

  /// Runs `body` on a node as it was last committed.
  @inlinable func committed<R>(_ node: Node, _ body: () -> R) -> R {
    if owner != 0, !journal.isEmpty, isTouched(node) { suspend() }
    refresh(node)
    return body()
  }

  /// A new subscriber is told of what the open transaction has changed already, too.
  @usableFromInline func subscribed(to node: Node) {
    guard owner != 0 else { return }
    needsComparison = true
    addCandidate(node)
  }

  /// A source of a stored entity, as this thread may see it.
  @inlinable @inline(__always) func find<T: Identifiable & Sendable>(
    _ type: T.Type, id: T.ID
  ) -> ObserverSource<T>? {
    let entry = tableReference(type)._withUnsafeGuaranteedRef { $0.entry(for: id, hash: Table<T>.hash(id)) }
    guard let entry else { return nil }
    let exists = entry._withUnsafeGuaranteedRef { node in
      if owner != 0, seesUncommitted, isTouched(node) { suspend() }
      return node.exists
    }
    return exists ? ObserverSource<T>(NodeRef(entry)) : nil
  }

  /// Brings a node's value up to date for this thread to read.
  @usableFromInline func prepareToRead(_ node: Node) {
    if owner != 0 {
      if seesUncommitted, isTouched(node) { suspend() }
      if node.isDirty {
        refresh(node)
      }
    } else if node.isDirty {
      refresh(node)
    }
  }

  // MARK: Releasing

  private enum Release {
    case holder(NodeRef)
    case subscriber(AnySubscriber, Node)
  }

  /// An observer is gone that may be the last. Never waits.
  @usableFromInline func removeHolder(of node: Node) { release(.holder(NodeRef(node: node))) }

  /// A subscription is gone. Never waits.
  @usableFromInline func release(_ subscriber: AnySubscriber, from node: Node) {
    release(.subscriber(subscriber, node))
  }

  private func release(_ release: Release) {
    if lock.tryLock() {
      if owner == 0 {
        perform(release)
        examineSuspects()
        settleUp()
        return
      }
      lock.unlock()
    }
    pendingLock.withLock { pending.append(release) }
    pendingCount.add(1, ordering: .sequentiallyConsistent)
    releasePending()
  }

  private func perform(_ release: Release) {
    switch release {
    case .holder(let node):
      node.with {
        $0.removeHolder()
        if $0.holders == 0 { suspect($0) }
      }
    case .subscriber(let subscriber, let node):
      node.removeSubscriber(subscriber)
      if let source = subscriber.kept { graveyard.append(source) }
      subscriber.kept = nil
      graveyard.append(subscriber)
    }
  }

  /// Performs what was put off. The lock is held.
  @usableFromInline func performPending() {
    while pendingCount.load(ordering: .sequentiallyConsistent) > 0 {
      let batch = pendingLock.withLock {
        let batch = pending
        pending = []
        return batch
      }
      pendingCount.subtract(batch.count, ordering: .sequentiallyConsistent)
      for release in batch { perform(release) }
    }
  }

  /// Gives the lock back, and then runs what is not to run with it: loggers, and the end of observers' closures.
  @usableFromInline func settleUp() {
    guard !logs.isEmpty || !graveyard.isEmpty else { return unlock() }
    let (logs, graveyard) = (self.logs, self.graveyard)
    self.logs = []
    self.graveyard = []
    unlock()
    for log in logs { log() }
    withExtendedLifetime(graveyard) {}
  }

  /// Gives the lock back, and sees to what others could not release meanwhile.
  @usableFromInline func unlock() {
    lock.unlock()
    if pendingCount.load(ordering: .sequentiallyConsistent) > 0 { releasePending() }
  }

  @usableFromInline func releasePending() {
    while pendingCount.load(ordering: .sequentiallyConsistent) > 0, lock.tryLock() {
      // An open transaction sees to it when it ends.
      guard owner == 0 else { return lock.unlock() }
      performPending()
      examineSuspects()
      let (logs, graveyard) = (self.logs, self.graveyard)
      self.logs = []
      self.graveyard = []
      lock.unlock()
      for log in logs { log() }
      withExtendedLifetime(graveyard) {}
    }
  }

  // MARK: Small things

  /// The next unstamped write's stamp: the date, strictly increasing.
  @usableFromInline func tick() -> Stamp {
    lastTick = max(Date().timeIntervalSinceReferenceDate, lastTick.nextUp)
    return lastTick
  }

  @usableFromInline func log(_ entry: @escaping (any EntityStoreLogger) -> Void) {
    guard let logger else { return }
    logs.append { entry(logger) }
  }

  /// A call to write with; kept for the next when done with.
  @usableFromInline func beginCall(_ mode: WriteCall.Mode, stamp: Stamp?) -> WriteCall {
    let call = idleCall ?? WriteCall(engine: self)
    idleCall = nil
    if callSerial == .max { resetSerials() }
    callSerial += 1
    call.begin(mode, stamp: stamp, serial: callSerial)
    return call
  }

  /// Begins to count anew, before a mark of long ago could be taken for one of now.
  @usableFromInline func resetSerials() {
    for table in tables.values {
      for node in table.allNodes() {
        node.callSerial = 0
        // What is in the journal of an open transaction stays marked as old, and is only noted once more.
        node.journalMark = 0
      }
    }
    callSerial = 0
    savepoint = 0
    transactionStart = 0
  }

  @usableFromInline func endCall(_ call: WriteCall) {
    call.end()
    idleCall = call
  }
}
