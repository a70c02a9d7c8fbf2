import Foundation
import Testing

@testable import ConcordConnect

/// Answers from memory.
private struct Service: Transport {
  let answer: @Sendable (TransportRequest) async throws -> TransportResponse
  func send(_ request: TransportRequest) async throws -> TransportResponse { try await answer(request) }
}

/// What changes while a list is on its way.
@Suite("Lists that are on their way")
struct RefreshTests {
  private static let url = URL(string: "http://shop.example/books")

  private static func page(_ books: [Book], next: String? = nil) throws -> TransportResponse {
    var headers = HeaderFields()
    headers["Link"] = next.map { "<\($0)>; rel=\"next\"" }
    return TransportResponse(status: 200, headers: headers, body: try JSONEncoder().encode(books), url: url)
  }

  private func refresh(_ books: Resource<Book>, _ connect: GenericConnect<ContextStrategy.Mixed>) async throws {
    let proxy = try connect.execute(BookWork { try await books.refresh(in: $0) })
    await proxy.finished()
    if let error = proxy.error { throw error }
  }

  @Test("What is changed here while pages come is fresher than they are, and stays", arguments: StoreKind.allCases)
  func changedMeanwhile(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store([Book(id: 1, title: "old"), Book(id: 2, title: "old"), Book(id: 3, title: "old")])
      let service = Service { request in
        if case .path = request.target {
          return try Self.page([Book(id: 1, title: "served"), Book(id: 2, title: "served")], next: "/books?page=2")
        }
        let context = connect.newBackgroundContext()
        try context.update(Book.self, id: 1) { $0.title = "edited" }
        context.insert(Book(id: 9, title: "new"))
        try context.save()
        return try Self.page([Book(id: 4, title: "served")])
      }
      try await refresh(Resource<Book>(at: "/books", of: service), connect)
      #expect(
        try connect.stored(Book.self).map { "\($0.id) \($0.title)" } == ["1 edited", "2 served", "4 served", "9 new"])
    }
  }

  @Test("What stands on two pages is as the later one has it", arguments: StoreKind.allCases)
  func twice(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      let service = Service { request in
        switch request.target {
        case .path: try Self.page([Book(id: 1, title: "a"), Book(id: 2, title: "a")], next: "/books?page=2")
        case .url(let url) where url.query() == "page=2":
          try Self.page([Book(id: 1, title: "b"), Book(id: 3, title: "b")], next: "/books?page=3")
        case .url: try Self.page([Book(id: 3, title: "c")])
        }
      }
      try await refresh(Resource<Book>(at: "/books", of: service), connect)
      #expect(try connect.stored(Book.self).map { "\($0.id) \($0.title)" } == ["1 b", "2 a", "3 c"])
    }
  }

  @Test("Lists that are asked for otherwise are not taken for each other")
  func alike() async throws {
    // All lists have the same tag, as those of services that count versions may have.
    let service = Service { request in
      if request.headers["If-None-Match"] == "\"1\"" { return TransportResponse(status: 304) }
      guard case .path(_, let query) = request.target else { return TransportResponse(status: 404) }
      let title =
        query.map { "\($0.name):\($0.value ?? "-")" }.joined(separator: " ")
        + (request.headers["Accept-Language"] ?? "")
      var response = try Self.page([Book(id: 1, title: title)])
      response.headers["ETag"] = "\"1\""
      return response
    }
    let books = Resource<Book>(at: "/books", of: service)
    let queries: [[URLQueryItem]] = [
      [], [URLQueryItem(name: "a", value: "1&b=2")],
      [URLQueryItem(name: "a", value: "1"), URLQueryItem(name: "b", value: "2")],
      [URLQueryItem(name: "a", value: "")], [URLQueryItem(name: "a", value: nil)],
    ]
    for _ in 0..<2 {
      var titles: [String] = []
      for query in queries { titles += try await books.list(query).map(\.title) }
      #expect(titles == ["", "a:1&b=2", "a:1 b:2", "a:", "a:-"])
    }
    for language in ["de", "fr"] {
      let request = TransportRequest("GET", "/books", headers: ["Accept-Language": language])
      #expect(try await books.page(request).items.map(\.title) == [language])
    }
  }

  @Test("A wait that is longer than any clock goes on is no crash")
  func endless() async throws {
    let transport = HTTPTransport(
      baseURL: URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/"), timeout: .seconds(Int64.max))
    await #expect(throws: TransportError.self) { try await transport.send(TransportRequest("GET", "/")) }
    try await withConnect { connect in
      for seconds in [Int64.max, .max / 2, .min] {
        connect.schedule(Nothing(), .every(.seconds(seconds))).cancel()
      }
      let schedule = connect.schedule(Nothing(), .every(.seconds(Int64.max)))
      try await Task.sleep(for: .milliseconds(50))
      schedule.cancel()
    }
  }
}

private struct Nothing: GenericAction, Sendable { func execute() {} }
