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

/// The pages that a service has sent with an `ETag`, in memory: those used last, since addresses may differ each time.
final class PageCache<Entity: PersistentEntity & Codable>: Sendable {
  struct Entry: Sendable {
    let tag: String
    let page: ResourcePage<Entity>
  }

  /// The maximum number of pages.
  static var limit: Int { 1_000 }

  private let state = Locked(State())

  private struct State {
    var entries: [Key: (entry: Entry, use: Int)] = [:]
    /// The number of uses so far.
    var uses = 0
  }

  /// The address and the header fields of a request: one address may have a list for each language.
  private struct Key: Hashable {
    let target: TransportRequest.Target
    let headers: HeaderFields
  }

  var count: Int { state.withLock { $0.entries.count } }

  func entry(_ request: TransportRequest) -> Entry? {
    let key = Self.key(request)
    return state.withLock { state in
      guard let found = state.entries[key]?.entry else { return nil }
      state.uses += 1
      state.entries[key]?.use = state.uses
      return found
    }
  }

  func set(_ entry: Entry?, for request: TransportRequest) {
    let key = Self.key(request)
    state.withLock { state in
      state.entries[key] = nil
      guard let entry else { return }
      state.uses += 1
      state.entries[key] = (entry, state.uses)
      guard state.entries.count > Self.limit else { return }
      // Many at once, so that few sets have to sort.
      let oldest = state.entries.sorted { $0.value.use < $1.value.use }.prefix(Self.limit / 4)
      for (key, _) in oldest { state.entries[key] = nil }
    }
  }

  func removeAll() { state.withLock { $0.entries = [:] } }

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
