/// The engine's notes for an inspector while one is attached. Used only while the store's lock is held.
///
/// Without an inspector there is no such object, and nothing is noted.
final class Inspection {
  private let trace: @Sendable () -> (any Sendable)?
  private var holders = HolderNotes()
  private let hasNotedMany: @Sendable () -> Void
  private var observers: [ObjectIdentifier: NotedObserver] = [:]
  /// The number of noted observers at which those that are gone are removed.
  private var limit = 64
  /// Whether transactions are recorded, and those who are told of them are noted.
  private(set) var isRecording = false
  /// The number of writes and releases when the last recorded transaction had ended.
  private var seenWrites: UInt64
  /// Whether there were transactions since that were not recorded, or not as a whole.
  private var hasMissed = false
  private var told: [InspectedReceiver] = []
  private var toldCount = 0

  private struct NotedObserver {
    weak var subscriber: Subscriber?
    let origin: CallOrigin
  }

  /// - Parameters:
  ///   - trace: a function that notes the calling functions. It is called with the lock held.
  ///   - hasNotedMany: a function that is called, with the lock held, when no more holders are noted until ``noteHolders()``.
  init(
    writes: UInt64, trace: @escaping @Sendable () -> (any Sendable)?, hasNotedMany: @escaping @Sendable () -> Void
  ) {
    (self.trace, self.hasNotedMany) = (trace, hasNotedMany)
    seenWrites = writes
  }

  /// The place from which the engine was called, unless it was told.
  func origin(_ site: CallSite?) -> CallOrigin? {
    if let site, !site.isOfThisPackage { return .site(site) }
    return trace().map { .trace($0) } ?? site.map { .site($0) }
  }

  // MARK: Observers

  /// Notes an observer that holds a node.
  ///
  /// - Returns: whether more may be noted.
  func didHold(_ node: Node, _ source: AnySource) -> Bool {
    // All other sources have code of the user's, which must not be released with the lock held.
    guard !node.table.isInternal, source.holdsNodeOnly else { return true }
    if let origin = origin(nil) {
      holders.note(source, origin)
      if holders.mayNoteMore { return true }
    }
    // Also where the system has no traces: asking for each would cost something, too.
    hasNotedMany()
    return false
  }

  func noteHolders() { holders.allowMore() }

  func holderOrigins(of node: Node, except subscribed: Set<ObjectIdentifier>) -> [CallOrigin] {
    Array(holders.origins(of: node, except: subscribed).prefix(InspectedEntity.mostObservers))
  }

  func didSubscribe(_ subscriber: Subscriber, _ site: CallSite?) {
    if let origin = origin(site) { didSubscribe(subscriber, from: origin) }
  }

  func didSubscribe(_ subscriber: Subscriber, from origin: CallOrigin) {
    if observers.count >= limit {
      observers = observers.filter { $0.value.subscriber != nil }
      limit = max(64, 2 * observers.count)
    }
    observers[ObjectIdentifier(subscriber)] = NotedObserver(subscriber: subscriber, origin: origin)
  }

  func origin(of subscriber: Subscriber) -> CallOrigin? {
    guard let noted = observers[ObjectIdentifier(subscriber)], noted.subscriber === subscriber else { return nil }
    return noted.origin
  }

  // MARK: Transactions

  func beginRecording(writes: UInt64, isInTransaction: Bool) {
    isRecording = true
    if isInTransaction || writes != seenWrites { hasMissed = true }
  }

  func endRecording() { isRecording = false }

  /// Whether something has changed since the last recorded transaction.
  func hasGap(writes: UInt64) -> Bool { hasMissed || !isRecording && writes != seenWrites }

  /// Notes who is told of a node's change.
  func didTell(_ node: Node) {
    guard isRecording else { return }
    for subscriber in node.subscribers where !subscriber.isRelay {
      toldCount += 1
      guard told.count < Self.mostTold else { continue }
      told.append(
        InspectedReceiver(key: InspectedKey(node), origin: origin(of: subscriber), line: subscriber.line.kind))
    }
  }

  /// The number of receivers of one transaction that are noted one by one.
  private static var mostTold: Int { 50 }

  /// Ends the notes of a transaction.
  func takeTransaction(_ site: CallSite?, _ duration: Duration?) -> InspectedCommit? {
    guard isRecording else { return nil }
    defer { (told, toldCount, hasMissed) = ([], 0, false) }
    return InspectedCommit(
      origin: origin(site), duration: duration, told: told, toldCount: toldCount, isAfterGap: hasMissed)
  }

  /// Notes that a transaction has ended, and discards what nobody took.
  func endTransaction(writes: UInt64) {
    guard isRecording else { return }
    seenWrites = writes
    if toldCount > 0 { (told, toldCount) = ([], 0) }
  }
}

extension InspectedKey {
  /// The key of a node; `nil` for one of the engine's own.
  init?(_ node: Node) {
    guard !node.table.isInternal, let id = node.table.id(of: node) else { return nil }
    self.init(type: node.table.valueType, id: id)
  }
}
