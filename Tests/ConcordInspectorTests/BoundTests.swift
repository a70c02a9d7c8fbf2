#if Inspector
  import Concord
  import ConcordInspector
  import Dispatch
  import Foundation
  import Testing

  @Suite("What is large, and what changes while somebody looks")
  struct BoundTests {
    @Test("A list shows no entity that was released")
    func released() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      var author: EntityObserver<Author>? = store.store(Author(id: "bronte", name: "Emily"))
      try await inspecting(store) { client, _ in
        #expect(try await client.entities("Author")["total"].int == 2)
        let writes = try await client.overview()["writes"].int
        withExtendedLifetime(author) {}
        author = nil
        let list = try await client.entities("Author")
        #expect(list["total"].int == 1)
        #expect(list["items"].list.map { $0["id"].text } == ["austen"])
        // By which the page notices it, also where it was not recorded.
        #expect(try await client.overview()["writes"].int != writes)
      }
      withExtendedLifetime(book) {}
    }

    @Test("Nobody is shown what a transaction has not committed")
    func uncommitted() async throws {
      let store = EntityStore(delivery: .immediate)
      let books = store.store([emma, Book(id: 2, title: "Persuasion", author: austen)])
      try await inspecting(store) { client, _ in
        let done = DispatchSemaphore(value: 0)
        let (isInside, inside) = AsyncStream.makeStream(of: Void.self)
        DispatchQueue.global().async {
          store.transaction { tx in
            tx.update(Book.self, id: 1) { $0.title = "Half" }
            tx.remove(Book.self, id: 2)
            inside.yield()
            done.wait()
          }
          inside.finish()
        }
        for await _ in isInside { break }
        let types = try await client.overview()["types"].list
        let list = try await client.entities("Book")["items"].list.compactMap { $0["text"].text }
        let title = try await client.entity("Book", "1")["value"]["parts"][1]["text"].text
        done.signal()
        #expect(types.map { $0["count"].int } == [1, 2])
        #expect(list.map { $0.prefix(13) } == ["id: 1, title:", "id: 2, title:"])
        #expect(list.first?.contains("Emma") ?? false)
        #expect(title == "Emma")
        for await _ in isInside {}
      }
      withExtendedLifetime(books) {}
    }

    @Test("An object is not looked into, since others may change it meanwhile")
    func object() async throws {
      final class Counter: Sendable {
        let lock = NSLock()
      }
      struct Worker: Identifiable, Sendable {
        let id = 1
        let counter = Counter()
      }
      let store = EntityStore(delivery: .immediate)
      let worker = store.store(Worker())
      try await inspecting(store) { client, _ in
        let part = try await client.entity("Worker", "1")["value"]["parts"][1]
        #expect(part["kind"].text == "text")
        #expect(part["parts"].list.isEmpty)
        #expect(part["text"].text?.hasSuffix("Counter") ?? false)
      }
      withExtendedLifetime(worker) {}
    }

    @Test("Dates and numbers without end are shown, and found by their ids")
    func endless() async throws {
      struct Sun: Identifiable, Sendable {
        let id: Date
        let number: Double
        let decimal = Decimal.nan
        let date: Date
      }
      let numbers = [Double.infinity, -.infinity, 1e300, -1e300]
      let store = EntityStore(delivery: .immediate)
      let suns = store.store(
        numbers.map { number in
          let date = Date(timeIntervalSinceReferenceDate: number)
          return Sun(id: date, number: number, date: date)
        } + [
          Sun(
            id: Date(timeIntervalSinceReferenceDate: 0), number: .nan, date: Date(timeIntervalSinceReferenceDate: .nan))
        ])
      let stamped = numbers.map { store.store(Author(id: "\($0)", name: ""), modifiedAt: $0) }
      try await inspecting(store) { client, _ in
        let items = try await client.entities("Sun")["items"].list
        #expect(items.count == 5)
        for item in items {
          let hash = item["hash"].text.map { ["hash": $0] } ?? [:]
          let answer = try await client.entity("Sun", item["id"].text ?? "", hash)
          #expect(answer["value"]["parts"].list.count == 4)
        }
        #expect(try await client.entity("Author", "inf")["keepers"]["stamp"].text == "inf")
      }
      withExtendedLifetime((suns, stamped)) {}
    }

    @Test("One letter with any number of accents is shown in part")
    func letter() async throws {
      let store = EntityStore(delivery: .immediate)
      let author = store.store(Author(id: "zalgo", name: "e" + String(repeating: "\u{301}", count: 1_000_000)))
      try await inspecting(store) { client, _ in
        let text = try await client.entity("Author", "zalgo")["value"]["parts"][1]["text"].text ?? ""
        #expect(text.hasPrefix("e\u{301}") || text.unicodeScalars.starts(with: "e\u{301}".unicodeScalars))
        #expect(text.utf8.count < 5_000)
        #expect(try await client.get("api/entities", ["type": try await client.key("Author")]).data.count < 10_000)
      }
      withExtendedLifetime(author) {}
    }

    @Test("An alias is told, however many places contain the entity")
    func alias() async throws {
      let store = EntityStore(delivery: .immediate)
      let books = store.store((0..<600).map { Book(id: $0, title: "\($0)", author: austen) })
      let featured = store.store(austen, named: "author of the year")
      try await inspecting(store) { client, _ in
        let keepers = try await client.entity("Author", "austen")["keepers"]
        #expect(keepers["aliases"].list.map(\.text) == ["author of the year"])
        #expect(keepers["parentCount"].int == 600)
        #expect(keepers["parents"].list.count == 12)
      }
      withExtendedLifetime((books, featured)) {}
    }

    @Test("Of ten thousand observers of one entity the first are told, and the number")
    func observers() async throws {
      let store = EntityStore(delivery: .immediate)
      let author = store.store(austen)
      let subscriptions = (0..<10_000).map { _ in author.observe { _ in } }
      try await inspecting(store) { client, _ in
        let keepers = try await client.entity("Author", "austen")["keepers"]
        #expect(keepers["observers"].list.count == 500)
        #expect(keepers["observerCount"].int == 10_000)
      }
      withExtendedLifetime(subscriptions) {}
    }

    @Test("What changes in a set or a dictionary is told without what stays")
    func unordered() async throws {
      struct Shelf: Identifiable, Sendable {
        let id = 1
        var tags: Set<String> = []
        var prices: [String: Int] = [:]
      }
      let store = EntityStore(delivery: .immediate)
      let shelf = store.store(
        Shelf(
          tags: Set((0..<40).map { "tag \($0 + 100)" }),
          prices: Dictionary(uniqueKeysWithValues: (0..<40).map { ("book \($0 + 100)", $0) })))
      try await inspecting(store) { client, _ in
        store.update(Shelf.self, id: 1) { shelf in
          shelf.tags.insert("tag 999")
          for number in 0..<5 { shelf.prices["book \(900 + number)"] = 9 }
          shelf.prices["book 100"] = 7
        }
        let answer = try await client.get("api/transaction", ["number": "1"]).json
        let fields = answer["changes"][0]["fields"].list
        let names = fields.compactMap { $0["name"].text }
        #expect(names.filter { $0.hasPrefix("tags") }.count == 1)
        #expect(names.filter { $0.hasPrefix("prices") }.count == 6)
        let changed = fields.first { $0["old"].text == "0" }
        #expect(changed?["new"].text == "7")
        #expect(changed?["name"].text?.contains("book 100") ?? false)
      }
      withExtendedLifetime(shelf) {}
    }
  }
#endif
