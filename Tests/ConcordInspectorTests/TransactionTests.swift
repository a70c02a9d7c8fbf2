#if Inspector
  import Concord
  import Foundation
  import Testing

  @testable import ConcordInspector

  @Suite("What the inspector shows of transactions")
  struct TransactionTests {
    @Test("A transaction shows who wrote, what, in which context, for how long, and who was told")
    func transaction() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      try await inspecting(store) { client, _ in
        let subscription = book.observe { _ in }
        let told = #line - 1
        store.transaction(context: "importer") { tx in
          tx.update(Author.self, id: "austen") { $0.name = "J. Austen" }
          tx.update(Book.self, id: 1) { $0.tags = ["novel"] }
        }
        let written = #line - 4
        let line = try #require(try await client.transactions().first)
        #expect(line["context"].text == "importer")
        #expect(line["changes"].int == 2)
        #expect(line["told"].int == 1)
        #expect((line["duration"].number ?? 0) > 0)
        #expect(line["place"]["file"].text == "ConcordInspectorTests/TransactionTests.swift")
        #expect(line["place"]["line"].int == written)
        let answer = try await client.transaction(try #require(line["number"].int))
        let changes = answer["changes"].list
        #expect(changes.map { $0["kind"].text } == ["updated", "updated"])
        #expect(changes[0]["entity"]["id"].text == "austen")
        #expect(changes[0]["fields"][0]["name"].text == "name")
        #expect(changes[0]["fields"][0]["old"].text == "Jane Austen")
        #expect(changes[0]["fields"][0]["new"].text == "J. Austen")
        #expect(changes[0]["fields"].list.count == 1)
        #expect(answer["receivers"][0]["entity"]["id"].text == "1")
        #expect(answer["receivers"][0]["place"]["line"].int == told)
        withExtendedLifetime(subscription) {}
      }
    }

    #if os(Linux)
      @Test("The place of a single write is found, too")
      func place() async throws {
        let store = EntityStore(delivery: .immediate)
        let book = store.store(emma)
        try await inspecting(store) { client, _ in
          store.update(Book.self, id: 1) { $0.title = "Emma!" }
          let line = #line - 1
          let answer = try #require(try await client.transactions().first)
          #expect(answer["place"]["file"].text == "ConcordInspectorTests/TransactionTests.swift")
          #expect(answer["place"]["line"].int == line)
        }
        withExtendedLifetime(book) {}
      }
    #endif

    @Test("Insertions and removals are shown, and a transaction that throws or changes nothing is not")
    func kinds() async throws {
      struct Failure: Error {}
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      try await inspecting(store) { client, _ in
        var other: EntityObserver<Author>? = store.store(Author(id: "bronte", name: "Emily"))
        store.update(Book.self, id: 1) { $0.title = "Emma" }
        try? store.transaction { tx in
          tx.update(Book.self, id: 1) { $0.title = "Never" }
          throw Failure()
        }
        withExtendedLifetime(other) {}
        other = nil
        let lines = try await client.transactions()
        #expect(lines.map { $0["summary"].text } == ["removed Author bronte", "inserted Author bronte"])
        #expect(lines.allSatisfy { !$0["isAfterGap"].bool })
        let fields = try await client.transaction(1)["changes"][0]["fields"].list
        #expect(fields.map { $0["new"].text } == ["bronte", "Emily"])
        #expect(fields.allSatisfy { $0["old"].text == nil })
      }
      withExtendedLifetime(book) {}
    }

    @Test("Writers on several threads at once are recorded in commit order")
    func threads() async throws {
      let store = EntityStore(delivery: .immediate)
      let kept = store.store((0..<4).map { Author(id: "\($0)", name: "0") })
      try await inspecting(store) { client, _ in
        let answer = try await client.post("api/recording", #"{"everything":true}"#)
        #expect(answer.status == 200)
        await withTaskGroup(of: Void.self) { group in
          for id in 0..<4 {
            group.addTask {
              for value in 1...50 { store.update(Author.self, id: "\(id)") { $0.name = "\(value)" } }
            }
          }
        }
        await store.settled()
        #expect(try await client.overview()["last"].int == 200)
        for id in 0..<4 {
          #expect(try await client.entity("Author", "\(id)")["history"].list.count == 50)
        }
      }
      withExtendedLifetime(kept) {}
    }

    @Test("The last 1,000 transactions can be stepped through")
    func timeTravel() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      try await inspecting(store) { client, _ in
        #expect(try await client.post("api/recording", #"{"everything":true}"#).status == 200)
        for number in 1...1_200 { store.update(Book.self, id: 1) { $0.title = "Edition \(number)" } }
        let added = store.store(Author(id: "bronte", name: "Emily"))
        let overview = try await client.overview()
        #expect(overview["last"].int == 1_201)
        #expect(overview["earliest"].int == 201)
        for number in [201, 202, 700, 1_200, 1_201] {
          let answer = try await client.entity("Book", "1", ["at": "\(number)"])
          #expect(answer["value"]["parts"][1]["text"].text == "Edition \(min(1_200, number))")
          // What keeps it is known of the present only.
          #expect(answer["keepers"]["stamp"].text == nil)
        }
        let key = try await client.key("Author")
        let then = try await client.get("api/overview", ["at": "1200"]).json
        #expect(then["types"].list.map { $0["count"].int } == [1, 1])
        #expect(try await client.overview()["types"].list.map { $0["count"].int } == [2, 1])
        let list = try await client.get("api/entities", ["type": key, "at": "1200"]).json
        #expect(list["items"].list.map { $0["id"].text } == ["austen"])
        let unborn = try await client.get("api/entity", ["type": key, "id": "bronte", "at": "1200"]).json
        #expect(unborn["value"]["kind"].text == nil && unborn["history"].list.count == 1)
        #expect(try await client.get("api/overview", ["at": "200"]).status == 410)
        #expect(try await client.get("api/overview", ["at": "1202"]).status == 410)
        withExtendedLifetime(added) {}
      }
      #expect(book.value.title == "Edition 1200")
    }

    @Test("What is gone can be looked at where it was")
    func gone() async throws {
      let store = EntityStore(delivery: .immediate)
      try await inspecting(store) { client, _ in
        var book: EntityObserver<Book>? = store.store(emma)
        withExtendedLifetime(book) {}
        book = nil
        #expect(try await client.overview()["types"].list.isEmpty)
        let then = try await client.get("api/overview", ["at": "1"]).json["types"].list
        #expect(then.map { $0["name"].text } == ["Author", "Book"])
        let key = try #require(then[1]["key"].text)
        let answer = try await client.get("api/entity", ["type": key, "id": "1", "at": "1"]).json
        #expect(answer["value"]["parts"][1]["text"].text == "Emma")
        let now = try await client.get("api/entity", ["type": key, "id": "1"]).json
        #expect(now["value"]["kind"].text == nil)
        #expect(now["history"].list.map { $0["number"].int } == [2, 1])
      }
    }

    @Test("Transactions that come too fast are left out, the log says so, and nothing before can be looked at")
    func gaps() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      try await inspecting(store) { client, _ in
        let end = ContinuousClock.now + .milliseconds(300)
        var count = 0
        while ContinuousClock.now < end {
          store.update(Book.self, id: 1) { $0.title = "Edition \(count)" }
          count += 1
        }
        let paused = try await client.overview()
        #expect(paused["isPaused"].bool)
        #expect((paused["last"].int ?? .max) < count)
        // The value is the present one all the same.
        #expect(try await client.entity("Book", "1")["value"]["parts"][1]["text"].text == "Edition \(count - 1)")
        while try await client.overview()["isPaused"].bool { try await Task.sleep(for: .milliseconds(20)) }
        store.update(Book.self, id: 1) { $0.title = "The last one" }
        let line = try #require(try await client.transactions().first)
        #expect(line["isAfterGap"].bool)
        #expect(try await client.overview()["earliest"].int == line["number"].int)
      }
      withExtendedLifetime(book) {}
    }

    @Test("Recording whatever it costs leaves nothing out")
    func everything() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      try await inspecting(store) { client, _ in
        #expect(try await client.post("api/recording", #"{"everything":true}"#).json["recordsEverything"].bool)
        for number in 0..<20_000 { store.update(Book.self, id: 1) { $0.title = "Edition \(number)" } }
        let overview = try await client.overview()
        #expect(overview["last"].int == 20_000)
        #expect(!overview["isPaused"].bool)
        #expect(try await client.transactions().allSatisfy { !$0["isAfterGap"].bool })
      }
      withExtendedLifetime(book) {}
    }

    @Test("After its end the store keeps nothing of the inspector")
    func released() async throws {
      final class Mark: Sendable {}
      struct Owner: Identifiable, Sendable {
        let id = 1
        let mark: Mark
      }
      let store = EntityStore(delivery: .immediate)
      weak var mark: Mark?
      weak var inspector: Inspector?
      do {
        let serving = try await store.inspect()
        inspector = serving
        var owner: EntityObserver<Owner>? = store.store(Owner(mark: Mark()))
        mark = owner?.value.mark
        #expect(mark != nil)
        owner = nil
        // The log has the value.
        #expect(mark != nil)
        await serving.stop()
      }
      #expect(inspector == nil)
      for _ in 0..<1_000 where mark != nil { try await Task.sleep(for: .milliseconds(20)) }
      #expect(mark == nil)
    }
  }

  @Suite("The time that recording may take")
  struct RecordingBudgetTests {
    @Test("Bursts are recorded, and what goes on is left out, so that a fiftieth of the time is spent")
    func share() {
      let start = ContinuousClock.now
      var budget = RecordingBudget(now: start)
      var (now, recording, pauses) = (start, Duration.zero, Duration.zero)
      for _ in 0..<100_000 {
        now += .microseconds(10)
        recording += .microseconds(10)
        if let pause = budget.charge(.microseconds(2), changes: 1, now: now) {
          now += pause
          pauses += pause
          budget.resume(now: now)
        }
      }
      #expect(recording / (recording + pauses) < 0.025)
      #expect(recording / (recording + pauses) > 0.01)
    }

    @Test("What an app does as people use it is recorded whole")
    func people() {
      let start = ContinuousClock.now
      var budget = RecordingBudget(now: start)
      for index in 1...10_000 {
        // A hundred transactions a second, of ten entities each.
        let now = start + .milliseconds(10 * index)
        #expect(budget.charge(.microseconds(100), changes: 10, now: now) == nil)
      }
    }
  }
#endif
