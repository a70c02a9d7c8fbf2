#if Inspector
  import Concord
  import Foundation
  import Testing

  @Suite("What the inspector shows around an entity")
  struct NeighbourTests {
    @Test("All of ten thousand neighbours are reached by pages, in one order, while others read and write")
    func pages() async throws {
      let store = EntityStore(delivery: .immediate)
      let many = store.store((0..<10_000).map { Book(id: $0, title: "Title \($0)", author: austen) })
      let featured = store.store(austen, named: "author of the year")
      try await inspecting(store) { client, _ in
        var found: [String] = []
        while true {
          // What reads a book, or writes the author, has the engine move the places of the author about.
          if found.count % 1_000 == 0 {
            store.update(Author.self, id: "austen") { $0.name = "Edition \(found.count)" }
            _ = store.find(Book.self, id: found.count * 7 % 10_000)?.value
          }
          let page = try await client.neighbours("Author", "austen", "parents", found.count)
          #expect(page["total"].int == 10_000)
          #expect(page["items"].list.allSatisfy { $0["place"].text == "author" && $0["entity"]["type"].text == "Book" })
          let ids = page["items"].list.compactMap { $0["entity"]["id"].text }
          if ids.isEmpty { break }
          found += ids
        }
        #expect(found == (0..<10_000).map { "\($0)" })
        let answer = try await client.entity("Author", "austen")["keepers"]
        #expect(answer["parentCount"].int == 10_000)
        #expect(answer["parents"].list.map { $0["entity"]["id"].text } == (0..<12).map { "\($0)" })
      }
      withExtendedLifetime((many, featured)) {}
    }

    @Test("Neighbours are those of the present: one that came is there, and one that went is not")
    func changes() async throws {
      let store = EntityStore(delivery: .immediate)
      var books: [EntityObserver<Book>] = (1...3).map { store.store(Book(id: $0, title: "", author: austen)) }
      try await inspecting(store) { client, _ in
        func ids() async throws -> [String?] {
          try await client.neighbours("Author", "austen", "parents")["items"].list.map { $0["entity"]["id"].text }
        }
        #expect(try await ids() == ["1", "2", "3"])
        books[1] = store.store(Book(id: 4, title: "", author: austen))
        #expect(try await ids() == ["1", "3", "4"])
        let key = try await client.key("Author")
        for (id, side, status) in [("austen", "up", 400), ("bronte", "parents", 404), ("austen", "children", 200)] {
          let answer = try await client.get("api/neighbours", ["type": key, "id": id, "side": side])
          #expect(answer.status == status)
        }
      }
      withExtendedLifetime(books) {}
    }

    @Test("An entity is told with two levels of what is around it, the first ones of each")
    func graph() async throws {
      struct Shelf: Aggregate, Equatable, Sendable {
        let id: Int
        var books: [Book]
        var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Shelf>] { [.init(\.books)] }
      }
      let store = EntityStore(delivery: .immediate)
      let books = (1...8).map { Book(id: $0, title: "", author: austen) }
      let shelves = store.store((1...4).map { Shelf(id: $0, books: books) })
      try await inspecting(store) { client, _ in
        let author = try await client.entity("Author", "austen")["keepers"]
        #expect(author["parentCount"].int == 8)
        #expect(author["childCount"].int == 0)
        let parents = author["parents"].list
        #expect(parents.map { $0["entity"]["id"].text } == (1...8).map { "\($0)" })
        // Five are drawn, with two behind each.
        #expect(parents.map { $0["nextCount"].int } == [4, 4, 4, 4, 4, nil, nil, nil])
        #expect(parents.map { $0["next"].list.count } == [2, 2, 2, 2, 2, 0, 0, 0])
        #expect(parents[0]["next"][0]["entity"]["type"].text == "Shelf")
        #expect(parents[0]["next"][0]["place"].text == "books")
        let children = try await client.entity("Shelf", "1")["keepers"]["children"].list
        #expect(children.map { $0["entity"]["id"].text } == (1...8).map { "\($0)" })
        #expect(children[0]["next"][0]["entity"]["id"].text == "austen")
        #expect(children[0]["nextCount"].int == 1)
      }
      withExtendedLifetime(shelves) {}
    }
  }
#endif
