public import ConcordModel
public import Foundation

/// What a type of store needs to open one.
public struct StoreRequest: Sendable {
  public let model: Model
  /// The entities that it may have to keep.
  public let entities: [EntityDescription]
  public let configuration: StoreConfiguration
  /// Where its file is to be; `nil` for a store in memory.
  public let url: URL?
  /// What errors are to call it.
  public let name: String
}
