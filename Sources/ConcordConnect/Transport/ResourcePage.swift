import Concord
public import ConcordPersistence
import Foundation

/// A part of a list, and where the next one is.
public struct ResourcePage<Entity: PersistentEntity & Codable>: Sendable {
  /// The entities of the page.
  public let items: [Entity]
  /// The request for the next page; `nil` if this is the last.
  public let next: TransportRequest?
  /// Whether the service said that the page is as it was: it was not sent again.
  public let isUnchanged: Bool
}

/// The pages that a service has sent with an `ETag`, in memory.
final class PageCache<Entity: PersistentEntity & Codable>: Sendable {
  struct Entry: Sendable {
    let tag: String
    let page: ResourcePage<Entity>
  }

  private let entries = Locked<[Key: Entry]>([:])

  /// The address and the header fields of a request: one address may have a list for each language.
  private struct Key: Hashable {
    let target: TransportRequest.Target
    let headers: HeaderFields
  }

  func entry(_ request: TransportRequest) -> Entry? { entries.withLock { $0[Self.key(request)] } }

  func set(_ entry: Entry?, for request: TransportRequest) { entries.withLock { $0[Self.key(request)] = entry } }

  func removeAll() { entries.withLock { $0 = [:] } }

  private static func key(_ request: TransportRequest) -> Key { Key(target: request.target, headers: request.headers) }
}

/// A page whose body is an object.
struct CursorBody<Entity: Decodable>: Decodable, DecodableWithConfiguration {
  let items: [Entity]
  let next: String?

  struct Names: Sendable {
    let items: String
    let next: String
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    try self.init(from: decoder, configuration: Names(items: "items", next: "next"))
  }

  init(from decoder: any Decoder, configuration names: Names) throws {
    let container = try decoder.container(keyedBy: Key.self)
    items = try container.decode([Entity].self, forKey: Key(stringValue: names.items))
    let key = Key(stringValue: names.next)
    // Some services count their pages.
    if let number = try? container.decode(Int.self, forKey: key) {
      next = "\(number)"
    } else {
      next = try container.decodeIfPresent(String.self, forKey: key)
    }
  }
}
