import ConcordTestSupport
import FlyingFox
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Resources of a web service", .serialized)
struct ResourceTests {
  private func withService(
    _ body: (BookService, WebServer, HTTPTransport) async throws -> Void
  ) async throws {
    let service = BookService()
    try await WebServer.run({ try await service.answer($0) }) { server in
      try await body(service, server, HTTPTransport(baseURL: server.url))
    }
  }

  @Test("Get, create, update, delete", arguments: [nil, IdempotencyKey(rawValue: "k-1")] as [IdempotencyKey?])
  func single(_ key: IdempotencyKey?) async throws {
    try await withService { _, server, transport in
      let books = Resource<Book>(at: "/books", of: transport)
      let made = try await books.create(Book(id: 7, title: "Emma"), key: key)
      #expect(made.title == "Emma, as made")
      #expect(try await books.update(Book(id: 7, title: "Persuasion"), key: key).title == "Persuasion")
      #expect(try await books.get(7) == Book(id: 7, title: "Persuasion"))
      try await books.delete(7, key: key)
      await #expect(throws: TransportError.self) { try await books.get(7) }
      #expect(server.paths == ["POST /books", "PUT /books/7", "GET /books/7", "DELETE /books/7", "GET /books/7"])
      let keys = server.requests.entries.map { $0.headers["idempotency-key"] }
      #expect(keys == [key?.rawValue, key?.rawValue, nil, key?.rawValue, nil])
    }
  }

  @Test("A list has all pages, by `Link` or by cursor, also with a query", arguments: [0, 1, 2, 3, 7])
  func pages(_ count: Int) async throws {
    try await withService { service, server, transport in
      service.set(0..<count)
      let links = Resource<Book>(at: "/books", of: transport)
      let cursors = Resource<Book>(at: "/cursors", of: transport, paging: .cursor())
      let (byLink, byCursor) = (
        try await links.list(), try await cursors.list([URLQueryItem(name: "shelf", value: "1")])
      )
      #expect(byLink.map(\.id) == Array(0..<count) && byCursor.map(\.id) == Array(0..<count))
      let asked = max(1, (count + 1) / 2)
      #expect(server.paths.count == asked * 2)
      if count == 3 {
        #expect(
          server.paths == ["GET /books", "GET /books?page=1", "GET /cursors?shelf=1", "GET /cursors?shelf=1&cursor=1"])
      }
    }
  }

  @Test("What has not changed is not sent again, and counts all the same")
  func tags() async throws {
    try await withService { service, server, transport in
      service.set(0..<5)
      let books = Resource<Book>(at: "/books", of: transport)
      let first = try await books.list()
      #expect(try await books.list() == first)
      #expect(
        server.requests.entries.map { $0.headers["if-none-match"] != nil } == [false, false, false, true, true, true])
      #expect(try await books.page().isUnchanged)
      service.set(1..<6)
      #expect(try await books.list().map(\.id) == [1, 2, 3, 4, 5])
      #expect(try await !books.page([URLQueryItem(name: "other", value: nil)]).isUnchanged)
      books.forgetPages()
      #expect(try await !books.page().isUnchanged)
    }
  }

  @Test("Of pages with ever other addresses those are kept that were used last")
  func tagLimit() {
    let cache = PageCache<Book>()
    let page = ResourcePage<Book>(items: [], next: nil, isUnchanged: false)
    func request(_ number: Int) -> TransportRequest {
      TransportRequest("GET", "/books", query: [URLQueryItem(name: "since", value: "\(number)")])
    }
    for number in 0..<5_000 {
      cache.set(PageCache<Book>.Entry(tag: "\(number)", page: page), for: request(number))
      _ = cache.entry(request(0))
    }
    #expect(cache.count <= 1_000)
    let isThere = [0, 1, 4_999].map { cache.entry(request($0)) != nil }
    #expect(isThere == [true, false, true])
  }

  @Test(
    "A refresh stores all pages, deletes what is on none of them, and keeps what is ignored",
    arguments: StoreKind.allCases)
  func refresh(_ kind: StoreKind) async throws {
    try await withService { service, _, transport in
      try await withConnect(kind) { connect in
        let books = Resource<Book>(at: "/books", of: transport)
        try connect.store([Book(id: 3, title: "old", price: 9), Book(id: 99, title: "gone")])
        func refresh() async throws -> any ActionProxy {
          let proxy = try connect.execute(
            BookWork { try await books.refresh(in: $0, ignoreAttributes: ["price"]) })
          await proxy.finished()
          return proxy
        }
        service.set(0..<7)
        #expect(try await refresh().completionStatus == .successful)
        var stored = try connect.stored(Book.self)
        #expect(stored.map(\.id) == Array(0..<7))
        #expect(stored.first { $0.id == 3 } == Book(id: 3, title: "Emma", price: 9))
        // A shorter list, with other things on each page.
        service.set([1, 4, 6])
        #expect(try await refresh().completionStatus == .successful)
        stored = try connect.stored(Book.self)
        #expect(stored.map(\.id) == [1, 4, 6])
        // Nothing new: nothing is written, and what was lost here comes back.
        let context = connect.newBackgroundContext()
        try context.delete(Book.self, id: 4)
        try context.save()
        let again = try await refresh()
        #expect(again.statistics.contextStatistics?.changes == [1, 0, 0])
      }
    }
  }

  @Test("If a page does not come, what came is stored and nothing is deleted", arguments: StoreKind.allCases)
  func broken(_ kind: StoreKind) async throws {
    try await withService { service, _, transport in
      try await withConnect(kind) { connect in
        let books = Resource<Book>(at: "/books", of: transport)
        try connect.store([Book(id: 5, title: "old"), Book(id: 99, title: "old")])
        service.set(0..<6)
        service.broken.withLock { _ = $0.insert("/books?page=1") }
        let proxy = try connect.execute(BookWork { try await books.refresh(in: $0) })
        #expect(await proxy.finished() == .failed)
        #expect("\(proxy.error.map { "\($0)" } ?? "")" == "the service answered 500: broken")
        #expect(
          try connect.stored(Book.self).map { "\($0.id) \($0.title)" } == ["0 Emma", "1 Emma", "5 old", "99 old"])
      }
    }
  }

  @Test("An error of decoding says which field, and where")
  func decoding() async throws {
    struct Shelf: PersistentEntity, Codable {
      let id: Int
      var owner: Author
      static let persistentProperties: [PersistentProperty<Shelf>] = [.init("id", \.id)]
      init(from row: inout RowReader) throws { (id, owner) = (try row.read(), Author(id: 0, name: "")) }
      func write(to row: inout RowWriter) throws { try row.write(id) }
    }
    try await WebServer.run({ request in
      switch request.path {
      case "/type": .json(#"[{"id": 1, "owner": {"id": 1, "name": "a"}}, {"id": 2, "owner": {"id": 2, "name": 7}}]"#)
      case "/missing": .json(#"[{"id": 1, "owner": {"id": 1}}]"#)
      case "/null": .json(#"[{"id": null, "owner": {"id": 1, "name": "a"}}]"#)
      case "/cursor": .json(#"{"data": [{"id": "x"}], "after": 7}"#)
      default: .json("<html>")
      }
    }) { server in
      let transport = HTTPTransport(baseURL: server.url)
      func path(_ name: String, _ paging: Paging = .none) async -> String {
        let shelves = Resource<Shelf>(at: name, of: transport, paging: paging)
        do {
          return try await "\(shelves.list())"
        } catch TransportError.undecodable(let type, let path, let reason, let excerpt) {
          #expect(type == "Array<Shelf>" && !excerpt.isEmpty && !reason.isEmpty)
          return path
        } catch { return "\(error)" }
      }
      #expect(await path("/type") == "[1].owner.name")
      #expect(await path("/missing") == "[0].owner")
      #expect(await path("/null") == "[0].id")
      #expect(await path("/html") == "")
      #expect(await path("/cursor", .cursor(parameter: "after", items: "data", next: "after")) == "data[0].id")
    }
  }

  @Test("Pages that lead to each other, or elsewhere, are an error")
  func endless() async throws {
    try await WebServer.run({ request in
      switch request.path {
      case "/circle": .json("[]", ["Link": "</circle>; rel=next"])
      case "/away": .json("[]", ["Link": "<http://example.com/books>; rel=next"])
      default: .json("[]", ["Link": "<\(request.path)x>; rel=next"])
      }
    }) { server in
      let transport = HTTPTransport(baseURL: server.url, headers: ["Authorization": "secret"])
      func thrown(_ path: String) async -> String {
        var books = Resource<Book>(at: path, of: transport)
        books.pageLimit = 5
        do { return "\(try await books.list())" } catch { return "\(error)" }
      }
      #expect(await thrown("/circle") == "the list does not end: a page leads back to one before")
      #expect(await thrown("/on") == "the list does not end: more than 5 pages")
      #expect(await thrown("/away").hasPrefix("the request is not valid: http://example.com/books is not on"))
    }
  }

  @Test("An address of a next page that cannot be read is an error, and no last page")
  func brokenLink() async throws {
    try await withConnect { connect in
      try connect.store([Book(id: 1, title: "old"), Book(id: 9, title: "old")])
      let transport = ScriptedTransport { _ in
        TransportResponse(
          status: 200, headers: ["Link": "<http://shop.example:80a/books?page=2>; rel=next"],
          body: try JSONEncoder().encode([Book(id: 1, title: "new")]), url: URL(string: "http://shop.example/books"))
      }
      let books = Resource<Book>(at: "/books", of: transport)
      let proxy = try connect.execute(BookWork { try await books.refresh(in: $0) })
      #expect(await proxy.finished() == .failed)
      #expect(
        "\(proxy.error.map { "\($0)" } ?? "")"
          == "the request is not valid: 'http://shop.example:80a/books?page=2' is no address of a next page")
      #expect(try connect.stored(Book.self).map(\.id) == [1, 9])
    }
  }

  @Test("A page by cursor that was asked for at a whole address leads to the next one, too")
  func cursorOfAddress() async throws {
    let address = try #require(URL(string: "http://shop.example/books?shelf=a%2Bb&cursor=1"))
    let transport = ScriptedTransport { _ in
      TransportResponse(status: 200, body: Data(#"{"items": [], "next": "2+"}"#.utf8), url: address)
    }
    let books = Resource<Book>(at: "/books", of: transport, paging: .cursor())
    let next = try await books.page(TransportRequest("GET", at: address)).next
    let wanted = try #require(URL(string: "http://shop.example/books?shelf=a%2Bb&cursor=2%2B"))
    #expect(next == TransportRequest("GET", at: wanted))
  }

  @Test("Ids stand escaped in addresses; what cannot is refused")
  func ids() async throws {
    struct Named: PersistentEntity, Codable, Equatable {
      let id: String
      static let persistentProperties: [PersistentProperty<Named>] = [.init("id", \.id)]
      init(id: String) { self.id = id }
      init(from row: inout RowReader) throws { id = try row.read() }
      func write(to row: inout RowWriter) throws { try row.write(id) }
    }
    try await WebServer.run({ request in
      let name = String(request.path.dropFirst("/named/".count))
      return .json(String(decoding: try JSONEncoder().encode(Named(id: name)), as: UTF8.self))
    }) { server in
      let named = Resource<Named>(at: "/named", of: HTTPTransport(baseURL: server.url))
      for id in ["plain", "a b", "ü", "50%", "a?b", "a#b", "..."] {
        let found = try await named.get(id).id
        #expect(found == id || found.removingPercentEncoding == id)
      }
      for id in ["", ".", ".."] { await #expect(throws: TransportError.self) { try await named.get(id) } }
      #expect(server.paths.count == 7)
    }
  }

  @Test("`Link` fields are read as RFC 8288 says")
  func links() {
    #expect(LinkHeader.target("next", in: "<a>; rel=\"next\"") == "a")
    #expect(LinkHeader.target("next", in: "<a>; rel=prev, <b>; title=\"x, <c>; rel=next\"; rel=next") == "b")
    #expect(LinkHeader.target("next", in: "<a>;REL=\"prev NEXT\"") == "a")
    #expect(LinkHeader.target("next", in: "<a>; rel=\"nexts\"") == nil)
    #expect(LinkHeader.target("next", in: "<a>; title=\"\\\"; rel=next\"; rel=prev") == nil)
    #expect(LinkHeader.target("next", in: "") == nil && LinkHeader.target("next", in: "<a") == nil)
    #expect(LinkHeader.target("next", in: "<a>") == nil && LinkHeader.target("next", in: "nonsense; rel=next") == nil)
  }
}
