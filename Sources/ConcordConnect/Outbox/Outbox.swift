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
  let report: AsyncErrorHandlerBlock
  /// Writes what indirect strategies still owe the stores.
  let writePendingChanges: @Sendable () throws -> Void
  let state = Locked(OutboxState())
  /// Guards the order in which what is new is read.
  let reading = NSLock()
  /// Where one writes, so that no thread of Swift's concurrency waits for a disk.
  let work = DispatchQueue(label: "concord.outbox")
  /// What is being sent, with the writing of what came of it.
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
    let observed = coordinator.observeChanges { [weak self] change in
      // What this process writes is read at once.
      if case .entities = change { return }
      self?.readChanges()
    }
    observation.withLock { $0 = observed }
  }

  // MARK: What it knows

  /// Makes types of actions known, so that those that are left from an earlier run are shown and sent. Forwarding one does so, too.
  public func register(_ types: any ForwardAction.Type...) { register(types) }

  /// Makes types of actions known.
  public func register(_ types: [any ForwardAction.Type]) {
    var isNew = false
    for type in types where registry.register(type) { isNew = true }
    if isNew { readActionsAgain() }
  }

  /// What actions are sent with; nothing is sent while it is `nil`.
  public var transport: (any Transport)? {
    get { state.withLock { $0.transport } }
    set {
      state.withLock { $0.transport = newValue }
      sendNext()
    }
  }

  /// How it sends.
  public var policy: OutboxPolicy {
    get { state.withLock { $0.policy } }
    set {
      state.withLock { $0.policy = newValue }
      readActionsAgain()
    }
  }

  // MARK: What is in it

  /// What is to be sent, in the order in which it was forwarded.
  ///
  /// - Complexity: their number, to be sorted.
  public var pending: [OutboxEntry] { entries { $0.row.state == .pending } }

  /// What was refused, in the order in which it was forwarded.
  public var deadLetters: [DeadLetter] {
    state.withLock { state in
      state.items.values.filter { $0.row.state == .refused }.sorted { $0.id < $1.id }.map(state.letter)
    }
  }

  /// Those of ``pending`` whose type is not registered, or cannot read them.
  public var unknown: [OutboxEntry] { entries { $0.row.state == .pending && $0.action == nil } }

  private func entries(_ isWanted: (OutboxState.Item) -> Bool) -> [OutboxEntry] {
    state.withLock { state in
      state.items.values.filter(isWanted).sorted { $0.id < $1.id }.map(state.entry)
    }
  }

  /// Whether this process is the one that sends what is forwarded now.
  public var isSender: Bool {
    guard let home = coordinator.homeAttachment else { return false }
    return state.withLock { $0.stores[home]?.hold != nil }
  }

  /// What happens from now on. Each call gives a stream of its own, which ends when the ``Connect`` is released.
  ///
  /// A stream keeps the last 1,024 events for a reader that is slower than what happens, and drops those before them: ``pending`` and
  /// ``deadLetters`` always say what is.
  public var events: AsyncStream<OutboxEvent> {
    let (stream, continuation) = AsyncStream<OutboxEvent>.makeStream(bufferingPolicy: .bufferingNewest(1024))
    let number = state.withLock { state in
      let number = state.takeNumber()
      state.streams[number] = continuation
      return number
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
    }
    return stream
  }

  /// Returns when nothing is left to be sent: all that is pending waits behind a dead letter, or is of a type that is not known. While
  /// there is no network that may never be. It returns at once if the task is cancelled.
  public func idle() async {
    let number = state.withLock { $0.takeNumber() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isIdle = state.withLock { state in
          if state.isIdle || Task.isCancelled { return true }
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
