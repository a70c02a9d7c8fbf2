public import ConcordModel
import Foundation

/// A store that is or was attached to a container.
public final class PersistentStore: Sendable {
  /// The configuration whose entities the store keeps; `nil` for all entities that no other store keeps.
  public let configurationName: String?
  /// The type of the store.
  public let type: StoreType
  /// The URL of the store's file; `nil` if it has none.
  public let url: URL?
  /// The opened store.
  public let rows: any RowStore

  /// Creates a store around an opened store type.
  public init(configurationName: String?, type: StoreType, url: URL?, rows: any RowStore) {
    self.configurationName = configurationName
    self.type = type
    self.url = url
    self.rows = rows
  }

  /// Whether the rows outlive the process.
  var isKept: Bool { type != .inMemory }
  var configuration: String { configurationName ?? "" }
  /// The path of the store's file, without symbolic links; `nil` if it has none.
  var path: String? { url?.standardizedFileURL.resolvingSymlinksInPath().path }
}

extension PersistentStore: Hashable {
  public static func == (a: PersistentStore, b: PersistentStore) -> Bool { a === b }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension PersistentStore: CustomStringConvertible {
  public var description: String {
    "\(type) store '\(rows.name)'" + (configurationName.map { " of configuration '\($0)'" } ?? "")
  }
}
