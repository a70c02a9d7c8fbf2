import Concord
import ConcordConnect

/// A subscription of a device to what a server publishes. It is kept in the file, and goes on after a restart, until it is cancelled.
public final class SyncSubscription: Sendable {
  /// The name of the publication.
  public let name: String
  /// The parameters.
  public let parameters: SyncParameters
  let id: SubscriptionID
  private let sync: Sync

  init(_ id: SubscriptionID, _ sync: Sync) {
    (self.id, self.sync, name, parameters) = (id, sync, id.name, id.parameters)
  }

  /// Returns once the first state of the subscription is in the file. Waits without a network, and as long as the `Connect` is not started.
  ///
  /// - Throws: ``SyncError``, an error of the store, or `CancellationError` if the task is cancelled.
  public func ready() async throws { try await sync.ready(id) }

  /// Ends the subscription. What no other subscription, no pending action and none of the app's own code has leaves the file.
  ///
  /// - Throws: ``/ConcordModel/StoreError``; then it goes on.
  public func cancel() async throws { try await sync.cancel(id) }
}
