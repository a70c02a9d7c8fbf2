import Concord
public import ConcordPersistence
import Foundation

/// A container that also runs work.
///
/// ```swift
/// let connect: any Connect = GenericConnect<ContextStrategy.Mixed>(name: "Library")
/// try connect.start()
/// let proxy = try connect.execute(RefreshBooks()) { proxy in print(proxy.completionStatus) }
/// ```
public protocol Connect: PersistentContainer, ActionManager {
  /// Attaches the default store, unless a store is attached, and accepts work from now on. Does nothing if the connect
  /// is started. While it is being stopped, it is started again afterwards, unless an action calls, for which the stop waits.
  ///
  /// After a ``stop()`` the detached stores are attached again, unless another store was attached meanwhile.
  ///
  /// - Throws: ``/ConcordModel/StoreError``; then it is not started.
  func start() throws
  /// Starts the connect on another thread, and calls a block with the error, if there is one.
  ///
  /// - Parameter block: a closure that receives the error, or `nil` once the connect is started, on any thread.
  func start(block: @escaping @Sendable ((any Error)?) -> Void)

  /// Cancels all actions, waits until the running ones have ended, and detaches all stores. Does nothing if the connect
  /// is not started.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if a store cannot be detached because something cannot be written; then it is still
  ///   started. ``Errors/calledFromAction(_:)`` if an action calls it, which would wait for itself.
  func stop() throws
  /// Stops the connect on another thread, and calls a block with the error, if there is one. An action may call it.
  ///
  /// - Parameter block: a closure that receives the error, or `nil` once the connect is stopped, on any thread.
  func stop(block: @escaping @Sendable ((any Error)?) -> Void)

  /// Whether the connect is started, and takes work.
  var isStarted: Bool { get }

  /// The forwarded actions that have not reached the web service yet.
  var outbox: Outbox { get }
}

extension Connect {
  /// Shows a change at once, and sends it to the web service: now, or when that can be reached, also after the program was ended.
  ///
  /// ```swift
  /// try await connect.forward(AddToCart(book: "ACK"))
  /// ```
  ///
  /// It returns when the change is shown, and durable. It may be called while the connect is not started, as long as a store is
  /// attached.
  ///
  /// - Parameter action: the change. Its type is registered with the outbox, if it was not yet.
  /// - Returns: the entry of the action in the ``outbox``.
  /// - Throws: what the action's ``ForwardAction/apply(to:)`` throws, ``Errors``, or ``/ConcordModel/StoreError``; then nothing has
  ///   changed.
  @discardableResult
  public func forward<A: ForwardAction>(_ action: A) async throws -> OutboxEntry { try await outbox.forward(action) }

  /// Shows a change at once, sends it to the web service, and records it as a step of the outbox' ``Outbox/undoManager``.
  ///
  /// ```swift
  /// try await connect.forward(AddToCart(book: "ACK"), as: "Add to Cart")
  /// try await connect.outbox.undoManager.undo()
  /// ```
  ///
  /// - Parameters:
  ///   - action: the action. One that can be taken back after the service has accepted it is a ``ReversibleAction``.
  ///   - actionName: the name of what the user does, for menus, as in *Undo Add to Cart*.
  ///   - group: what successive calls have in common that are one step, as the typing in one text; `nil` for a step of its own. A
  ///     group ends with a step of another group or name, with ``OutboxUndoManager/endGroup()``, and when the step is undone.
  /// - Returns: what waits in the ``outbox``.
  /// - Throws: as ``forward(_:)``, and what the action's ``ReversibleAction/inverse(in:)`` throws; then nothing has changed.
  @discardableResult
  public func forward<A: ForwardAction>(
    _ action: A, as actionName: String, joining group: (any Hashable & Sendable)? = nil
  ) async throws -> OutboxEntry {
    try await outbox.forward(action, as: actionName, joining: group.map { UndoGroup($0) })
  }

  /// Whether an action calls, and the connect is started, so that there is nothing to be done.
  ///
  /// - Throws: ``Errors/calledFromAction(_:)`` if an action calls, and the connect is not started.
  func isStartedInAction() throws -> Bool {
    do { try refuseInAction("start()") } catch {
      if isStarted { return true }
      throw error
    }
    return false
  }

  /// Starts the connect without blocking the thread. See ``start()``.
  public func start() async throws {
    if try isStartedInAction() { return }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      start { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
    }
  }

  /// Stops the connect without blocking the thread. See ``stop()``.
  public func stop() async throws {
    try refuseInAction("stop()")
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      stop { error in continuation.resume(with: error.map { .failure($0) } ?? .success(())) }
    }
  }
}
