public import ConcordPersistence
import Foundation

/// A collection of a web service, as entities: JSON over REST.
///
/// ```swift
/// let books = Resource<Book>(at: "/books", of: HTTPTransport(baseURL: url))
/// let all = try await books.list()
/// let book = try await books.get("ACK")
/// ```
///
/// Its methods throw ``TransportError`` and `CancellationError`, and what a ``Transport`` of the app's own throws.
public struct Resource<Entity: PersistentEntity & Codable>: Sendable {
  /// The path of the collection.
  public let path: String
  /// The transport that carries the requests.
  public let transport: any Transport
  /// The way in which the service divides the collection into pages.
  public let paging: Paging
  /// The maximum number of pages in a list.
  public var pageLimit = 10_000
  private let decoder: JSONDecoder
  private let encoder: JSONEncoder
  private let pathComponent: @Sendable (Entity.ID) -> String
  private let cache = PageCache<Entity>()

  /// Creates a resource for a collection whose addresses contain ids in a special form.
  ///
  /// - Parameters:
  ///   - path: the path of the collection, below the service's address.
  ///   - transport: the transport that sends requests.
  ///   - paging: the division of lists into pages.
  ///   - decoder: the decoder of responses.
  ///   - encoder: the encoder of bodies.
  ///   - pathComponent: a closure that returns the form of an id in an address.
  public init(
    at path: String, of transport: any Transport, paging: Paging = .link, decoder: JSONDecoder = JSONDecoder(),
    encoder: JSONEncoder = JSONEncoder(), pathComponent: @escaping @Sendable (Entity.ID) -> String
  ) {
    self.path = path
    self.transport = transport
    self.paging = paging
    self.decoder = decoder
    self.encoder = encoder
    self.pathComponent = pathComponent
  }

  /// Creates a resource for a collection of a web service.
  ///
  /// - Parameters:
  ///   - path: the path of the collection, below the service's address.
  ///   - transport: the transport that sends requests.
  ///   - paging: the division of lists into pages.
  ///   - decoder: the decoder of responses.
  ///   - encoder: the encoder of bodies.
  public init(
    at path: String, of transport: any Transport, paging: Paging = .link, decoder: JSONDecoder = JSONDecoder(),
    encoder: JSONEncoder = JSONEncoder()
  ) where Entity.ID: CustomStringConvertible {
    self.init(at: path, of: transport, paging: paging, decoder: decoder, encoder: encoder) { $0.description }
  }

  // MARK: Single entities

  /// Gets an entity.
  ///
  /// - Throws: ``TransportError``, such as ``TransportError/status(_:excerpt:retryAfter:)`` with 404 if there is none;
  ///   `CancellationError` if the task is cancelled.
  public func get(_ id: Entity.ID) async throws -> Entity {
    try decode(try await send("GET", try path(of: id)))
  }

  /// Creates an entity.
  ///
  /// - Parameters:
  ///   - entity: the entity, which is sent as JSON.
  ///   - key: the key by which the service recognises a request that is sent again; `nil` to send none.
  /// - Returns: what the service made of it; the entity itself, if it says nothing.
  /// - Throws: ``TransportError``; `CancellationError` if the task is cancelled.
  @discardableResult
  public func create(_ entity: Entity, key: IdempotencyKey? = nil) async throws -> Entity {
    try await put(entity, "POST", path, key)
  }

  /// Replaces an entity.
  ///
  /// - Parameters:
  ///   - entity: the entity, which is sent as JSON.
  ///   - key: the key by which the service recognises a request that is sent again; `nil` to send none.
  /// - Returns: what the service made of it; the entity itself, if it says nothing.
  /// - Throws: ``TransportError``; `CancellationError` if the task is cancelled.
  @discardableResult
  public func update(_ entity: Entity, key: IdempotencyKey? = nil) async throws -> Entity {
    try await put(entity, "PUT", try path(of: entity.id), key)
  }

  /// Deletes an entity.
  ///
  /// - Throws: ``TransportError``; `CancellationError` if the task is cancelled.
  public func delete(_ id: Entity.ID, key: IdempotencyKey? = nil) async throws {
    _ = try await send("DELETE", try path(of: id), headers(key))
  }

  private func put(_ entity: Entity, _ method: String, _ path: String, _ key: IdempotencyKey?) async throws -> Entity {
    var headers = headers(key)
    headers["Content-Type"] = "application/json"
    let body: Data
    do { body = try encoder.encode(entity) } catch { throw TransportError.invalidRequest("\(error)") }
    let response = try await send(method, path, headers, body)
    return response.body.isEmpty ? entity : try decode(response)
  }

  private func headers(_ key: IdempotencyKey?) -> HeaderFields {
    var headers = HeaderFields()
    headers["Idempotency-Key"] = key?.rawValue
    return headers
  }

  private func path(of id: Entity.ID) throws -> String {
    let text = pathComponent(id)
    guard !["", ".", ".."].contains(text),
      let component = text.addingPercentEncoding(withAllowedCharacters: .unreserved)
    else { throw TransportError.invalidRequest("'\(text)' cannot stand in an address") }
    return path + "/" + component
  }

  private func send(
    _ method: String, _ path: String, _ headers: HeaderFields = [:], _ body: Data? = nil
  ) async throws -> TransportResponse {
    var headers = headers
    headers["Accept"] = "application/json"
    let request = TransportRequest(method, path, headers: headers, body: body)
    return try await transport.send(request).successful()
  }

  private func decode<T: Decodable>(_ response: TransportResponse, _ type: T.Type = T.self) throws -> T {
    do { return try decoder.decode(type, from: response.body) } catch let error as DecodingError {
      throw TransportError(error, type, response.body)
    }
  }

  // MARK: Lists

  /// Gets all entities, page after page.
  ///
  /// Unchanged pages with an `ETag` are not sent again.
  ///
  /// - Parameter query: the items of the address's query.
  /// - Throws: ``TransportError``, such as ``TransportError/endlessPages(_:)`` beyond ``pageLimit``;
  ///   `CancellationError` if the task is cancelled.
  /// - Complexity: a request for each page. All entities are in memory.
  public func list(_ query: [URLQueryItem] = []) async throws -> [Entity] {
    var all: [Entity] = []
    try await forEachPage(query) { all += $0.items }
    return all
  }

  /// Gets a page: the first, or ``ResourcePage/next`` of another.
  ///
  /// - Throws: ``TransportError``; `CancellationError` if the task is cancelled.
  public func page(_ query: [URLQueryItem] = []) async throws -> ResourcePage<Entity> {
    try await page(TransportRequest("GET", path, query: query))
  }

  /// Gets a page that another one leads to.
  ///
  /// - Parameter request: the ``ResourcePage/next`` of another page.
  /// - Throws: ``TransportError``; `CancellationError` if the task is cancelled.
  public func page(_ request: TransportRequest) async throws -> ResourcePage<Entity> {
    var request = request
    request.headers["Accept"] = "application/json"
    let known = cache.entry(request)
    var conditional = request
    conditional.headers["If-None-Match"] = known?.tag
    let response = try await transport.send(conditional)
    if response.status == 304, let known {
      return ResourcePage(items: known.page.items, next: known.page.next, isUnchanged: true)
    }
    let page = try page(response.successful(), request)
    cache.set(response.headers["ETag"].map { .init(tag: $0, page: page) }, for: request)
    return page
  }

  /// Discards the cached pages, so that all are sent again.
  public func forgetPages() { cache.removeAll() }

  /// Gets the pages in order.
  func forEachPage(_ query: [URLQueryItem], _ body: (ResourcePage<Entity>) async throws -> Void) async throws {
    var visited: Set<TransportRequest.Target> = []
    var request: TransportRequest? = TransportRequest("GET", path, query: query)
    while let current = request {
      if visited.count >= pageLimit { throw TransportError.endlessPages("more than \(pageLimit.of("page"))") }
      guard visited.insert(current.target).inserted else {
        throw TransportError.endlessPages("a page leads back to one before")
      }
      let page = try await page(current)
      try await body(page)
      request = page.next
    }
  }

  private func page(_ response: TransportResponse, _ request: TransportRequest) throws -> ResourcePage<Entity> {
    switch paging {
    case .none: return ResourcePage(items: try decode(response), next: nil, isUnchanged: false)
    case .link:
      let target = response.headers["Link"].flatMap { LinkHeader.target("next", in: $0) }
      let url = target.flatMap { URL(string: $0, relativeTo: response.url)?.absoluteURL }
      // Taken for the last page, it would end a refresh, which deletes what is on the others.
      if let target, url == nil { throw TransportError.invalidRequest("'\(target)' is no address of a next page") }
      return ResourcePage(
        items: try decode(response), next: url.map { TransportRequest("GET", at: $0) }, isUnchanged: false)
    case .cursor(let parameter, let items, let next):
      let names = CursorBody<Entity>.Names(items: items, next: next)
      let body: CursorBody<Entity>
      do {
        body = try decoder.decode(CursorBody<Entity>.self, from: response.body, configuration: names)
      } catch let error as DecodingError {
        throw TransportError(error, [Entity].self, response.body)
      }
      let cursor = body.next.flatMap { $0.isEmpty ? nil : URLQueryItem(name: parameter, value: $0) }
      return ResourcePage(
        items: body.items, next: try cursor.map { try self.request(at: $0, after: request) }, isUnchanged: false)
    }
  }

  /// The request for the page that a cursor leads to.
  private func request(at cursor: URLQueryItem, after request: TransportRequest) throws -> TransportRequest {
    switch request.target {
    case .path(let path, let query):
      return TransportRequest("GET", path, query: query.filter { $0.name != cursor.name } + [cursor])
    case .url(let url):
      var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
      let name = URLQueryItem(name: cursor.name, value: "").escaped
      let others = (components?.percentEncodedQuery ?? "").split(separator: "&").filter { !$0.hasPrefix(name) }
      components?.percentEncodedQuery = (others.map(String.init) + [cursor.escaped]).joined(separator: "&")
      guard let next = components?.url else { throw TransportError.invalidRequest("\(url) leads to no next page") }
      return TransportRequest("GET", at: next)
    }
  }
}
