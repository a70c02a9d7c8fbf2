import Concord
import ConcordPersistence
import Dispatch
import Foundation

/// Actions that were forwarded, and have not reached the web service yet: kept in the store, sent in order.
///
/// ```swift
/// connect.outbox.register(AddToCart.self)
/// connect.outbox.transport = HTTPTransport(baseURL: url)
/// try await connect.forward(AddToCart(book: "ACK"))
/// await connect.outbox.idle()
/// ```
///
/// It sends while its ``Connect`` is started and not suspended, and the network can be reached. Of several processes with one file,
/// one sends. What lies in several attached stores is shown and sent from each. All functions may be called from any thread.
public final class Outbox: Sendable {
  let coordinator: PersistentStoreCoordinator
  let view: ViewContext
  let registry = ActionRegistry()
  let overlay: OutboxOverlay
  let clock: any Clock<Duration>
  /// A closure that receives errors, and returns before they are handled.
  let report: AsyncErrorHandlerBlock
  /// Writes what indirect strategies still owe the stores.
  let writePendingChanges: @Sendable () throws -> Void
  let state = Locked(OutboxState())
  /// The steps that can be undone. Whoever changes them runs on `work`.
  let undoSteps = UndoSteps()
  /// A lock that keeps readings of new rows in order.
  let reading = NSLock()
  /// The queue of writes, so that no thread of Swift's concurrency waits for a disk.
  let work = DispatchQueue(label: "concord.outbox")
  /// The ended sendings that wait for the queue.
  let ended = Locked<[Ended]>([])
  /// The sendings in progress, including the writing of their outcomes.
  let running = DispatchGroup()
  private let observation = Locked<StoreObservation?>(nil)

  init(
    coordinator: PersistentStoreCoordinator, view: ViewContext, clock: any Clock<Duration>,
    report: @escaping AsyncErrorHandlerBlock, writePendingChanges: @escaping @Sendable () throws -> Void
  ) {
    self.coordinator = coordinator
    self.view = view
    self.clock = clock
    self.report = report
    self.writePendingChanges = writePendingChanges
    overlay = OutboxOverlay(model: coordinator.model, registry: registry, report: report)
    view.setOverlay(overlay)
    coordinator.addGuard(self)
    work.mark()
    // What this process writes is read at once.
    let observed = coordinator.observeOtherChanges { [weak self] _ in self?.readChanges() }
    observation.withLock { $0 = observed }
  }

  // MARK: Types and transport

  /// Registers types of actions, so that actions left from an earlier run are shown and sent. Forwarding an action
  /// registers its type, too.
  ///
  /// - Parameter types: the types. Inverses of a ``ReversibleAction`` are registered with it.
  public func register(_ types: any ForwardAction.Type...) { register(types) }

  /// Registers types of actions, with their inverses, so that actions left from an earlier run are shown and sent.
  public func register(_ types: [any ForwardAction.Type]) {
    var isNew = false
    func register(_ type: any ForwardAction.Type) {
      guard registry.register(type) else { return }
      isNew = true
      if let type = type as? any ReversibleAction.Type { register(type.inverseType) }
    }
    for type in types { register(type) }
    if isNew { readActionsAgain() }
  }

  /// The transport that sends actions; nothing is sent while it is `nil`.
  public var transport: (any Transport)? {
    get { state.withLock { $0.transport } }
    set {
      state.withLock { $0.transport = newValue }
      sendNext()
    }
  }

  /// The policy of sending.
  public var policy: OutboxPolicy {
    get { state.withLock { $0.policy } }
    set {
      state.withLock { $0.policy = newValue }
      readActionsAgain()
    }
  }

  // MARK: Content

  /// The actions that are to be sent, in the order in which they were forwarded.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is their number.
  public var pending: [OutboxEntry] { entries { $0.row.state == .pending } }

  /// The refused actions, in the order in which they were forwarded.
  public var deadLetters: [DeadLetter] {
    state.withLock { state in
      state.items.values.filter { $0.row.state == .refused }.sorted { $0.id < $1.id }.map(state.letter)
    }
  }

  /// The ``pending`` actions whose type is not registered, or cannot decode them.
  public var unknown: [OutboxEntry] { entries { $0.row.state == .pending && $0.action == nil } }

  private func entries(_ isWanted: (OutboxState.Item) -> Bool) -> [OutboxEntry] {
    state.withLock { state in
      state.items.values.filter(isWanted).sorted { $0.id < $1.id }.map(state.entry)
    }
  }

  /// Whether this process sends the forwarded actions at present.
  public var isSender: Bool {
    guard let home = coordinator.homeAttachment else { return false }
    return state.withLock { $0.stores[home]?.isHeld ?? false }
  }

  /// The events of the outbox from now on. Each call returns a new stream, which ends when the ``Connect`` is released.
  ///
  /// For a slow reader a stream keeps the last 1,024 events, and drops earlier ones; ``pending`` and ``deadLetters``
  /// always show the present state.
  public var events: AsyncStream<OutboxEvent> {
    state.withLock { $0.events.stream() }
  }

  /// Returns when nothing is left to be sent: all that is pending waits behind a dead letter, or is of a type that is not known. While
  /// there is no network that may never be. It returns at once if the task is cancelled, or the ``Connect`` is released.
  public func idle() async {
    let number = state.withLock { $0.takeNumber() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isIdle = state.withLock { state in
          if state.isIdle || state.hasEnded || Task.isCancelled { return true }
          state.waiting[number] = continuation
          return false
        }
        if isIdle { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
  }
}

extension Outbox: RetentionGuard {
  package func forwardedKeys(_ outboxes: [StoreAttachment: any RowReading]) throws -> Set<EntityKey>? {
    try entityKeys(in: outboxes) { !$0.state.isFinished }
  }
}
