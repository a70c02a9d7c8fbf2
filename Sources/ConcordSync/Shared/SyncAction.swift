public import ConcordConnect

/// A change that synchronisation carries: the same type runs on the device, where it is shown at once, and on the server, where it has
/// authority.
///
/// ```swift
/// struct AddToCart: SyncAction {
///   var customer: Customer.ID, book: Book.ID
///   static let name = "add-to-cart"
///   var entity: AnyEntityReference { .init(Cart.self, id: customer) }
///   func apply(to store: EntityStore) throws { store.update(Cart.self, id: customer) { $0.books.append(book) } }
/// }
/// ```
///
/// On the server ``/ConcordConnect/ForwardAction/apply(to:)`` gets the entities as they are stored there, so that the effect may differ
/// from what the device has shown.
public protocol SyncAction: ForwardAction {}

extension SyncAction {
  /// Carries the action to the server of the ``Sync`` whose outbox sends it.
  ///
  /// - Throws: `TransportError/unreachable(reason:)` if its ``/ConcordConnect/Connect`` has no ``Sync``; it is tried again.
  public func send(with transport: any Transport, key: IdempotencyKey) async throws {
    guard let carrier = Outbox.sending?.carrier else {
      throw TransportError.unreachable(reason: "'\(Self.name)' waits for connect.sync(with:token:)")
    }
    try await carrier.carry(self, key: key)
  }
}
