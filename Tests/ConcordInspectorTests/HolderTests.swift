#if Inspector
  import Concord
  import Foundation
  import Testing

  @testable import ConcordInspector

  @Suite("Where observers without a closure were made")
  struct HolderTests {
    #if os(Linux)
      @Test("An observer that is held is known by the place that made it, as long as it is held")
      func held() async throws {
        let store = EntityStore(delivery: .immediate)
        let before = store.store(emma)
        try await inspecting(store) { client, _ in
          var held = [store.find(Book.self, id: 1)]
          let line = #line - 1
          // A subscription holds the entity with the observer that it was made with: that is no further one.
          let subscription = store.find(Book.self, id: 1)?.observe { _ in }
          for _ in 0..<2 { held.append(store.find(Book.self, id: 1)) }
          let keepers = try await client.keepers("Book", "1")
          #expect(keepers["holders"].int == 4)
          #expect(keepers["held"].list.map { $0["count"].int } == [2, 1])
          #expect(keepers["held"].list.map { $0["places"][0]["line"].int } == [line + 4, line])
          #expect(
            keepers["held"].list.allSatisfy {
              $0["places"][0]["file"].text == "ConcordInspectorTests/HolderTests.swift"
            })
          held = []
          let after = try await client.keepers("Book", "1")
          #expect(after["holders"].int == 1)
          #expect(after["held"].list.isEmpty)
          withExtendedLifetime((held, subscription)) {}
        }
        withExtendedLifetime(before) {}
      }

      @Test("`values` and `observed` are known by the places that began them")
      func withoutClosures() async throws {
        let store = EntityStore(delivery: .immediate)
        let book = store.store(emma)
        try await inspecting(store) { client, _ in
          let observed = book.observed
          let first = #line - 1
          var values = book.values.makeAsyncIterator()
          let second = #line - 1
          #expect(await values.next()?.title == "Emma")
          let (hasBegun, begun) = AsyncStream.makeStream(of: Void.self)
          let task = Task {
            for await _ in book.values { begun.yield() }
          }
          let third = #line - 2
          for await _ in hasBegun { break }
          let keepers = try await client.keepers("Book", "1")
          let places = keepers["observers"].list.map { $0["places"][0] }
          #expect(Set(places.map { $0["line"].int }) == [first, second, third])
          #expect(places.allSatisfy { $0["file"].text == "ConcordInspectorTests/HolderTests.swift" })
          task.cancel()
          await task.value
          withExtendedLifetime((observed, values)) {}
        }
        withExtendedLifetime(book) {}
      }

      @Test("Of many observers that are made at once the first are noted, and later ones again")
      func many() async throws {
        let store = EntityStore(delivery: .immediate)
        let book = store.store(emma)
        try await inspecting(store) { client, _ in
          func noted() async throws -> Int {
            try await client.keepers("Book", "1")["held"].list.reduce(0) { $0 + ($1["count"].int ?? 0) }
          }
          var many = (0..<10_000).compactMap { _ in store.find(Book.self, id: 1) }
          let first = try await noted()
          #expect((100..<10_000).contains(first), "\(first)")
          withExtendedLifetime(many) {}
          many = []
          #expect(try await noted() == 0)
          while try await noted() == 0 { many = (0..<10).compactMap { _ in store.find(Book.self, id: 1) } }
          #expect(try await noted() == 10)
          withExtendedLifetime(many) {}
        }
        withExtendedLifetime(book) {}
      }

      @Test("An answer lacks a place that was not known when it was asked for, though it is known by the end")
      func lookedUpMeanwhile() async throws {
        let places = CallPlaces()
        let trace = try #require(CallTrace.capture())
        let before = places.unanswered
        #expect(places.places(ofTrace: trace).isEmpty)
        while places.places(ofTrace: trace).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        let known = places.unanswered
        #expect(known > before)
        #expect(!places.places(ofTrace: trace).isEmpty)
        #expect(places.unanswered == known)
      }
    #endif

    @Test("An observer may be released while the inspector looks at it, and takes its entity with it")
    func released() async throws {
      let store = EntityStore(delivery: .immediate)
      let recorder = Recorder()
      #expect(recorder.begin(store))
      let reader = StoreReader(store, recorder, [])
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          for round in 0..<300 {
            let held = store.store(Author(id: "\(round % 3)", name: ""))
            withExtendedLifetime(held) {}
          }
        }
        group.addTask {
          for round in 0..<300 {
            recorder.noteHolders()
            let key = String(reflecting: Author.self)
            _ = reader.entity(of: key, id: "\(round % 3)", hash: nil, at: nil)
          }
        }
      }
      await store.settled()
      #expect(store.count(Author.self) == 0)
      recorder.end()
    }
  }
#endif
