#if Server && PostgreSQL
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL
  @testable import ConcordServer
  @testable import ConcordSync

  extension PostgreSQLFeedTests {
    @Test(
      "Where the feed has forgotten what was open at a later position than the device's own, a page goes from the device's own"
    )
    func pageFromOwnPosition() throws {
      let model = try shopModel()
      let store = try store(Kind.newSchema(), model)
      try store.startFeed(FeedLimits(changes: 0, rows: 1000))
      for id in 1...3 { try put(id, "a", in: store, model) }
      let own = try store.read { try $0.position() }
      let open = try store.pool.connect()
      try open.run([.once("BEGIN"), .once("UPDATE \"Book\" SET title = 'b' WHERE id = 1")])
      try put(9, "other", in: store, model)
      let later = try store.read { try $0.position() }
      try open.run([.once("COMMIT")])
      try put(1, "c", in: store, model)
      while try store.trimFeed() {}
      let known = try store.read { (try $0.changed([], since: own), try $0.changed([], since: later)) }
      #expect(known.0 != nil && known.1 == nil)

      let seal = SyncSeal(key: [1], isHiding: true)
      var keys = KeySum(seal)
      keys.add((1...3).map { .integer($0) })
      let state = SyncSeal.State(condition: "books", result: keys.text)
      let request = PageRequest(
        device: "a", position: seal.closed(own, having: [state]), user: "1", actions: 0, awaited: [],
        subscriptions: [.init(name: "books", parameters: [:], known: state.condition)], wait: 0)
      let opened = try #require(request.position.flatMap { seal.opened($0) })
      let predicate = try RowPredicate(#Predicate<Book> { $0.id < 9 }, in: model)
      let page = try store.read { reading in
        try PageMaker(
          request: request, asked: [.served(predicate, condition: state.condition)], user: "1", model: model,
          seal: seal, opened: opened, reading: reading, unanswered: UnansweredRows(), mostChanges: 1000
        ).page(knownFrom: later).page
      }
      #expect(page.subscriptions.map(\.isWhole) == [false] && page.rows.map(\.key.id) == [.integer(1)])
      try store.close()
    }

    @Test("A page that is asked for while a table is being truncated has the rows of its position")
    func truncatedMeanwhile() throws {
      let model = try shopModel()
      let store = try store(Kind.newSchema(), model)
      try store.startFeed()
      for id in 1...3 { try put(id, "a", in: store, model) }
      let writer = try store.pool.connect()
      try writer.run([
        .once("BEGIN"), .once("TRUNCATE \"Book\""), .once("INSERT INTO \"Book\" VALUES (4, 'b', 1, 1)"),
      ])
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { _ = try? writer.run([.once("COMMIT")]) }
      let seal = SyncSeal(key: [1], isHiding: true)
      let request = PageRequest(
        device: "a", position: nil, user: "1", actions: 0, awaited: [],
        subscriptions: [.init(name: "books", parameters: [:], known: nil)], wait: 0)
      let predicate = try RowPredicate(#Predicate<Book> { $0.id < 9 }, in: model)
      let made = try store.read { reading in
        try PageMaker(
          request: request, asked: [.served(predicate, condition: "books")], user: "1", model: model, seal: seal,
          opened: nil, reading: reading, unanswered: UnansweredRows(), mostChanges: 1000
        ).page(knownFrom: nil)
      }
      #expect(made.page.rows.map(\.key.id) == [.integer(4)])
      let (since, now) = try store.read { (try $0.changes(since: made.position), try $0.position()) }
      #expect(since?.rows.isEmpty == true && now == made.position)
      try store.close()
    }
  }
#endif
