public import ConcordModel
import Foundation

/// A request to open a store, with everything that a store type needs.
public struct StoreRequest: Sendable {
  /// The model of the container.
  public let model: Model
  /// The entities that the store may have to keep.
  public let entities: [EntityDescription]
  /// The configuration of the store.
  public let configuration: StoreConfiguration
  /// The URL of the store's file; `nil` for a store in memory.
  public let url: URL?
  /// The name of the store in errors.
  public let name: String
}
