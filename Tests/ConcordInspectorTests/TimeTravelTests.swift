#if Inspector
  import Concord
  import Foundation
  import Testing

  @testable import ConcordInspector

  @Suite("What the inspector shows of the past")
  struct TimeTravelTests {
    @Test("Entities are counted as they were, also those that came and went since, or changed and went")
    func counts() async throws {
      let store = EntityStore(delivery: .immediate)
      let austen = store.store(austen)
      var bronte: EntityObserver<Author>? = store.store(Author(id: "bronte", name: "Emily"))
      try await inspecting(store) { client, _ in
        store.update(Author.self, id: "bronte") { $0.name = "Emily Brontë" }
        var eliot: EntityObserver<Author>? = store.store(Author(id: "eliot", name: "George"))
        withExtendedLifetime((bronte, eliot)) {}
        (bronte, eliot) = (nil, nil)
        #expect(try await client.overview()["last"].int == 4)
        for (moment, count) in [(0, 2), (1, 2), (2, 3), (4, 1)] {
          let types = try await client.get("api/overview", ["at": "\(moment)"]).json["types"].list
          #expect(types.map { $0["count"].int } == [count], "\(moment)")
          let list = try await client.entities("Author", ["at": "\(moment)"])
          #expect(list["total"].int == count)
        }
      }
      withExtendedLifetime(austen) {}
    }

    @Test("Nobody gets to a state that is followed by something that was not recorded")
    func unrecorded() async throws {
      let store = EntityStore(delivery: .immediate)
      let (book, author) = (store.store(emma), store.store(Author(id: "bronte", name: "Emily")))
      try await inspecting(store) { client, _ in
        let first = try await pause(store, client)
        // Nobody has recorded this, and so nobody knows what was before.
        store.update(Author.self, id: "bronte") { $0.name = "Charlotte" }
        let key = try await client.key("Author")
        for _ in 0..<2 {
          let last = try #require(try await client.overview()["last"].int)
          #expect(try await client.overview()["earliest"].int == last)
          for moment in [first, last - 1, last] {
            let answer = try await client.get("api/entity", ["type": key, "id": "bronte", "at": "\(moment)"])
            #expect(answer.status == 410, "\(answer.text)")
          }
          // Nor when recording goes on, as long as nothing else is recorded.
          while try await client.overview()["isPaused"].bool { try await Task.sleep(for: .milliseconds(20)) }
        }
        store.update(Author.self, id: "bronte") { $0.name = "Anne" }
        store.update(Author.self, id: "bronte") { $0.name = "Emily" }
        let last = try #require(try await client.overview()["last"].int)
        #expect(try await client.overview()["earliest"].int == last - 1)
        let answer = try await client.get("api/entity", ["type": key, "id": "bronte", "at": "\(last - 1)"]).json
        #expect(answer["value"]["parts"][1]["text"].text == "Anne")
      }
      withExtendedLifetime((book, author)) {}
    }

    @Test("A release that was not recorded is missed like a write")
    func unrecordedRelease() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      let recorder = Recorder()
      #expect(recorder.begin(store))
      var author: EntityObserver<Author>? = store.store(Author(id: "bronte", name: "Emily"))
      withExtendedLifetime(author) {}
      var edition = 0
      while !recorder.isPaused {
        edition += 1
        store.update(Book.self, id: 1) { $0.title = "Edition \(edition)" }
      }
      let count = recorder.log.lastNumber
      author = nil
      #expect(store.count(Author.self) == 1)
      while recorder.isPaused { try await Task.sleep(for: .milliseconds(20)) }
      store.update(Book.self, id: 1) { $0.title = "The last one" }
      #expect(recorder.log.lastNumber == count + 1)
      #expect(recorder.log.transactions.last?.isAfterGap == true)
      recorder.end()
      withExtendedLifetime(book) {}
    }

    @Test("What a list has shown is kept no longer than the log keeps it")
    func listed() async throws {
      final class Mark: Sendable {}
      struct Owner: Identifiable, Sendable {
        let id: Int
        let mark: Mark
      }
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      try await inspecting(store) { client, _ in
        weak var mark: Mark?
        do {
          let owner = store.store(Owner(id: 1, mark: Mark()))
          mark = owner.value.mark
          #expect(try await client.entities("Owner")["total"].int == 1)
          withExtendedLifetime(owner) {}
        }
        #expect(mark != nil)
        #expect(try await client.post("api/recording", #"{"everything":true}"#).status == 200)
        for edition in 1...1_100 { store.update(Book.self, id: 1) { $0.title = "Edition \(edition)" } }
        for _ in 0..<1_000 where mark != nil { try await Task.sleep(for: .milliseconds(20)) }
        #expect(mark == nil)
      }
      withExtendedLifetime(book) {}
    }

    @Test("An inspector that was stopped keeps no value, though it is retained")
    func stopped() async throws {
      final class Mark: Sendable {}
      struct Owner: Identifiable, Sendable {
        let id: Int
        let mark: Mark
      }
      let store = EntityStore(delivery: .immediate)
      let inspector = try await store.inspect()
      weak var mark: Mark?
      do {
        let owner = store.store(Owner(id: 1, mark: Mark()))
        mark = owner.value.mark
      }
      #expect(mark != nil)
      await inspector.stop()
      for _ in 0..<1_000 where mark != nil { try await Task.sleep(for: .milliseconds(20)) }
      #expect(mark == nil)
      withExtendedLifetime(inspector) {}
    }

    /// Writes until recording pauses. Returns the number of the last transaction before.
    private func pause(_ store: EntityStore, _ client: Client) async throws -> Int {
      let first = try await client.overview()["last"].int ?? 0
      while try await !client.overview()["isPaused"].bool {
        for edition in 1...5_000 { store.update(Book.self, id: 1) { $0.title = "Edition \(edition)" } }
      }
      return first
    }
  }

  @Suite("Recording that pauses")
  struct PauseTests {
    @Test("Having recorded everything does not make the next pause longer")
    func pauseAfterEverything() {
      let start = ContinuousClock.now
      var budget = RecordingBudget(now: start)
      var now = start
      // Told to record whatever it costs, nobody pauses.
      for _ in 0..<1_000_000 {
        now += .microseconds(10)
        _ = budget.charge(.microseconds(2), changes: 1, now: now)
      }
      now += .microseconds(10)
      let pause = budget.charge(.microseconds(2), changes: 1, now: now)
      #expect(pause ?? .zero < .seconds(3))
    }

    @Test("Recording goes on, whenever somebody turns the switch")
    func switching() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      let recorder = Recorder()
      #expect(recorder.begin(store))
      let switching = Task.detached {
        while !Task.isCancelled {
          recorder.recordsEverything = true
          recorder.recordsEverything = false
        }
      }
      for edition in 0..<2_000 { store.update(Book.self, id: 1) { $0.title = "Edition \(edition)" } }
      switching.cancel()
      await switching.value
      recorder.recordsEverything = true
      for _ in 0..<1_000 where recorder.isPaused { try await Task.sleep(for: .milliseconds(20)) }
      let count = recorder.log.lastNumber
      store.update(Book.self, id: 1) { $0.title = "The last one" }
      #expect(recorder.log.lastNumber == count + 1)
      recorder.end()
      withExtendedLifetime(book) {}
    }
  }
#endif
