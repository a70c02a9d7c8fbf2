#if Inspector
  import Concord
  import ConcordInspector
  import Foundation
  import Testing

  @Suite("What the inspector shows of entities")
  struct EntityTests {
    @Test("Types are listed with the numbers of their entities, and entities by their ids")
    func lists() async throws {
      let store = EntityStore(delivery: .immediate)
      let books = store.store([2, 10, 1].map { Book(id: $0, title: "Book \($0)", author: austen) })
      try await inspecting(store) { client, _ in
        let types = try await client.overview()["types"].list
        #expect(types.map { $0["name"].text } == ["Author", "Book"])
        #expect(types.map { $0["count"].int } == [1, 3])
        let list = try await client.entities("Book")
        #expect(list["total"].int == 3)
        #expect(list["items"].list.map { $0["id"].text } == ["1", "2", "10"])
        #expect(list["items"][2]["text"].text == "id: 10, title: Book 10, author: Author austen, tags: 0 elements")
      }
      withExtendedLifetime(books) {}
    }

    @Test("Ten thousand entities are shown by pages, and found by their ids and values")
    func pages() async throws {
      let store = EntityStore(delivery: .immediate)
      let many = store.store((0..<10_000).map { Book(id: $0, title: "Title \($0)", author: austen) })
      try await inspecting(store) { client, _ in
        let clock = ContinuousClock()
        let page = try await client.entities("Book", ["offset": "9900", "limit": "100"])
        #expect(page["total"].int == 10_000)
        #expect(page["items"].list.map { $0["id"].text }.first == "9900")
        #expect(page["items"].list.count == 100)
        var found = JSON(NSNull())
        let time = try await clock.measure { found = try await client.entities("Book", ["search": "title 777"]) }
        #expect(found["items"].list.map { $0["id"].text }.prefix(2) == ["777", "7770"])
        #expect(found["total"].int == 11)
        #expect(time < .seconds(3))
        #expect(try await client.entities("Book", ["search": "nowhere"])["total"].int == 0)
      }
      withExtendedLifetime(many) {}
    }

    @Test("An entity shows its value, with the entities inside it as references")
    func value() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(Book(id: 1, title: "Emma", author: austen, tags: ["novel", "1815"]), modifiedAt: 7)
      try await inspecting(store) { client, _ in
        let answer = try await client.entity("Book", "1")
        let parts = answer["value"]["parts"].list
        #expect(parts.map { $0["name"].text } == ["id", "title", "author", "tags"])
        #expect(parts[1]["text"].text == "Emma")
        #expect(parts[2]["kind"].text == "entity")
        #expect(parts[2]["entity"]["id"].text == "austen")
        #expect(parts[3]["parts"].list.map { $0["text"].text } == ["novel", "1815"])
        #expect(answer["keepers"]["stamp"].text == "7.0")
        #expect(answer["keepers"]["children"][0]["place"].text == "author")
        #expect(try await client.get("api/entity", ["type": try await client.key("Book"), "id": "2"]).status == 404)
      }
      withExtendedLifetime(book) {}
    }

    @Test(
      "An entity tells why it is alive: who observes it and where in the code, what contains it, which alias names it")
    func keepers() async throws {
      let store = EntityStore(delivery: .immediate)
      let before = store.store(emma, named: .featured).observe { _ in }
      try await inspecting(store) { client, _ in
        let after = store.find(Book.self, id: 1)?.observe { _ in }
        let line = #line - 1
        let held = store.find(Book.self, id: 1)
        let answer = try await client.entity("Book", "1")["keepers"]
        let places = answer["observers"].list.map { $0["places"][0] }
        #expect(places.count == 2)
        #expect(places.map { $0["line"].int }.contains(line))
        #expect(places.contains { $0["file"].text == "ConcordInspectorTests/EntityTests.swift" })
        // One was made before the inspector.
        #expect(places.contains { $0["file"].text == nil })
        #expect(answer["observers"][0]["line"].text == "the committing thread")
        #expect(answer["holders"].int == 1)
        #expect(answer["aliases"].list.map(\.text) == ["featured"])

        let author = try await client.entity("Author", "austen")["keepers"]
        #expect(author["observers"].list.isEmpty)
        #expect(author["parentCount"].int == 1)
        #expect(author["parents"][0]["entity"]["id"].text == "1")
        #expect(author["parents"][0]["place"].text == "author")
        #expect(author["path"].list.map { $0["id"].text } == ["austen", "1"])
        withExtendedLifetime((after, held)) {}
      }
      withExtendedLifetime(before) {}
    }

    @Test("Each way of observing is known by its place in the code")
    func places() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      let list = store.query(Book.self)
      try await inspecting(store) { client, _ in
        let first = UInt(#line) + 1
        let subscriptions = [
          book.observe { _ in },
          book.observe(\.title) { _ in },
          book.title.observe { _ in },
          store.observe(book, book) { _ in },
          list.observeDifferences { _ in },
        ]
        // The subscription to a combination or a query is one to that, which follows the entity.
        let keepers = try await client.entity("Book", "1")["keepers"]
        let lines = keepers["observers"].list.compactMap { $0["places"][0]["line"].int }
        #expect(lines == [1, 2, 3].map { Int(first) + $0 })
        #expect((keepers["relays"].int ?? 0) > 0)
        let query = try await client.get("api/queries").json["queries"][0]
        #expect(query["observers"][0]["places"][0]["line"].int == Int(first) + 5)
        withExtendedLifetime(subscriptions) {}
      }
    }

    @Test("Optimistic layers are listed with what they change")
    func layers() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      try await inspecting(store) { client, _ in
        #expect(try await client.overview()["layers"].list.isEmpty)
        let layer = store.optimistically { $0.update(Book.self, id: 1) { $0.title = "Emma!" } }
        let layers = try await client.overview()["layers"].list
        #expect(layers.count == 1)
        #expect(layers[0][0]["id"].text == "1")
        let answer = try await client.entity("Book", "1")
        #expect(answer["keepers"]["layers"].list.map(\.int) == [0])
        #expect(answer["value"]["parts"][1]["text"].text == "Emma!")
        layer.rollBack()
        #expect(try await client.entity("Book", "1")["keepers"]["layers"].list.isEmpty)
      }
      withExtendedLifetime(book) {}
    }

    @Test("Values that look like HTML or JavaScript stay text, whatever their ids")
    func hostile() async throws {
      let store = EntityStore(delivery: .immediate)
      let evil = [
        "</script><script>alert(1)</script>", "\u{2028}\u{0}\u{7}", #""};alert(1);//"#, "a&b=c?d#e+f %2F/../",
        "🧑‍🚀é", "",
      ]
      let kept = store.store(evil.map { Author(id: $0, name: $0) })
      try await inspecting(store) { client, _ in
        let items = try await client.entities("Author")["items"].list
        #expect(Set(items.compactMap { $0["id"].text }) == Set(evil))
        for id in evil {
          let answer = try await client.entity("Author", id)
          #expect(answer["entity"]["id"].text == id)
          #expect(answer["value"]["parts"][1]["text"].text == id)
        }
        let answer = try await client.get("api/entities", ["type": try await client.key("Author")])
        #expect(answer.headers["Content-Type"] as? String == "application/json; charset=utf-8")
        #expect(answer.headers["X-Content-Type-Options"] as? String == "nosniff")
      }
      withExtendedLifetime(kept) {}
    }

    @Test("A value of any size and shape is shown in part")
    func large() async throws {
      struct Deep: Sendable { var next: [Deep] = [] }
      struct Odd: Identifiable, Sendable {
        let id: UUID
        var deep = Deep()
        var many = Array(0..<100_000)
        var text = String(repeating: "x", count: 1_000_000)
        var map = ["a": 1]
        var pair = (1, two: "2")
        var choice = Result<Int, InspectorError>.failure(.releaseBuild)
        var nothing: Int?
        var number = Double.nan
        var date = Date(timeIntervalSince1970: 0)
      }
      var odd = Odd(id: UUID())
      for _ in 0..<1_000 { odd.deep = Deep(next: [odd.deep, Deep()]) }
      let store = EntityStore(delivery: .immediate)
      let kept = store.store(odd)
      try await inspecting(store) { client, _ in
        let answer = try await client.entity("Odd", odd.id.uuidString)
        let parts = answer["value"]["parts"].list
        #expect(parts[2]["parts"].list.count == 101)
        #expect(parts[2]["parts"][100]["text"].text == "… and 99900 more")
        #expect((parts[3]["text"].text?.count ?? 0) < 3_000)
        #expect(parts[7]["kind"].text == "nothing")
        #expect(parts[8]["text"].text == "nan")
        #expect(parts[9]["text"].text == "1970-01-01 00:00:00 +0000")
        #expect(try await client.entities("Odd")["total"].int == 1)
      }
      withExtendedLifetime(kept) {}
    }
  }
#endif
