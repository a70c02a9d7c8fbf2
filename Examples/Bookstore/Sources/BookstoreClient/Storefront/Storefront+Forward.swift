import BookstoreKit
import ConcordConnect

extension Storefront {
  /// Sends what the customer does.
  func forward(_ action: some ShopAction) async throws {
    try await action.send(with: network, key: IdempotencyKey())
  }
}
