#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("The state that is being told", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct ToldStateTests {
    @Test(
      "It serves the thread that tells it, until a reading or a commit of the store has ended, or the position has moved"
    )
    func ends() throws {
      let fleet = try Fleet()
      let connection = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url))
      let position = try #require(FeedPosition("5:9:7"))
      let state = ToldState()
      // Nobody has wanted it.
      #expect(state.begin() == nil)
      #expect(state.connection(at: position) == nil)
      func keep() throws {
        state.end(hasTold: true)
        state.keep(connection, try #require(state.begin()))
        #expect(state.connection(at: position) == nil)
        state.isAt(position)
      }
      try keep()
      #expect(state.connection(at: position)?.connection === connection)
      #expect(state.connection(at: FeedPosition("5:10:7")) == nil)
      #expect(state.connection(at: nil) == nil)
      let isElsewhere = Locked(true)
      let isDone = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        isElsewhere.withLock { $0 = state.connection(at: position) != nil }
        isDone.signal()
      }
      isDone.wait()
      #expect(!isElsewhere.withLock { $0 })
      state.noteUse()
      #expect(state.connection(at: position) == nil)
      // A use from before it was asked for does not count.
      try keep()
      #expect(state.connection(at: position)?.connection === connection)
      state.end(hasTold: true)
      #expect(state.connection(at: position) == nil)
    }

    @Test("Its transaction stays open only where more is read than the rows that were read ahead")
    func stayingOpen() throws {
      let fleet = try Fleet()
      let (writer, reader) = (try fleet.store(), try fleet.store(pollInterval: 600))
      defer { for store in [writer, reader] { try? store.close() } }
      let coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(reader, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record("\($0)") }
      try writer.write(origin: nil) { writing in
        for id in 1...30 { _ = try writing.insert(fleet.row(id, id), for: fleet.key(id)) }
      }
      let list = try view.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.last)], fetchLimit: 2))
      // On the watch's thread, which has the transaction.
      let open = Locked<[Bool]>([])
      let observation = list.observe { _ in
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"
        guard let count = try? fleet.sql("\(sql) AND datname = current_database()") else { return }
        open.withLock { $0.append(count != "0") }
      }
      func change(_ id: Int, to last: Int) throws {
        let count = open.withLock { $0.count }
        try writer.write(origin: nil) { writing in
          let key = try fleet.key(id)
          let old = try #require(try writing.row(of: key))
          try writing.update(try fleet.row(id, last, stamp: old.stamp + 1), replacing: old, for: key)
        }
        #expect(eventually { open.withLock { $0.count } > count })
      }
      let count = ToldState.mostOpen + 20
      for turn in 1...count { try change(1, to: -turn) }
      #expect(open.withLock { $0.prefix(10).contains(true) && !$0[(count - 10)...].contains(true) })
      // The spare rows run out, so that others have to be read.
      for id in 1...12 { try change(id, to: 100 + id) }
      #expect(list.value.map(\.id) == [13, 14])
      #expect(open.withLock { $0.dropFirst(count).contains(true) })
      withExtendedLifetime((coordinator, view, observation)) {}
    }

    @Test("A reading that fails there spoils no other one")
    func failure() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 600)
      defer { try? store.close() }
      let told = Locked(0)
      let observation = store.observeCommits { _ in told.withLock { $0 += 1 } }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 7, 1)")
      #expect(eventually { told.withLock { $0 } == 1 })
      // The watch's thread has come to rest.
      Thread.sleep(forTimeInterval: 0.3)
      let state = store.watch.toldState
      let position = try #require(store.watch.position)
      #expect(state.connection(at: position) == nil)
      let connection = try store.pool.connect()
      try connection.run([.beginReading])
      state.keep(connection, try #require(state.begin()))
      state.isAt(position)
      func show<R>(_ body: (PostgreSQLSession) throws -> R) throws -> R {
        try DirectDelivery.showing { try store.read { try body(try #require($0 as? PostgreSQLSession)) } }
      }
      let (isThere, row) = try DirectDelivery.run {
        let isThere = try show { $0.connection === connection }
        #expect(throws: StoreError.self) { try show { try $0.query("SELECT 1 / 0", .none) } }
        return (isThere, try show { try $0.row(of: fleet.key(1)) })
      }
      #expect(isThere)
      #expect(try row == fleet.row(1, 7))
      state.end(hasTold: true)
      withExtendedLifetime(observation) {}
    }

    @Test("A view does not go back to the state that is told if it has shown a later one")
    func laterState() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 600)
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(store, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record("\($0)") }
      let list = try view.query(FetchDescriptor<Progress>())
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 7, 1)")
      #expect(eventually { list.value.map(\.last) == [7] })
      // The watch's thread has come to rest.
      Thread.sleep(forTimeInterval: 0.3)
      let state = store.watch.toldState
      let position = store.watch.position
      let connection = try store.pool.connect()
      try connection.run([.beginReading, .once("SELECT FROM concord_state")])
      _ = state.connection(at: position)
      state.keep(connection, try #require(state.begin()))
      state.isAt(try #require(position))
      try store.write(origin: nil) { writing in
        _ = try writing.insertOrReplaceOlder(fleet.row(1, 8, stamp: 8), for: fleet.key(1))
      }
      #expect(eventually { list.value.map(\.last) == [8] })
      #expect(store.watch.position == position)
      try DirectDelivery.run { view.show(.entities([try fleet.key(1)])) }
      #expect(list.value.map(\.last) == [8])
      state.end(hasTold: true)
      withExtendedLifetime((coordinator, view)) {}
    }

    @Test(
      "A view shows what another store commits with the connection that has told it, and goes on with later commits")
    func shows() throws {
      let fleet = try Fleet()
      let (writer, reader) = (try fleet.store(), try fleet.store())
      defer { for store in [writer, reader] { try? store.close() } }
      let coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(reader, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .queue(DispatchQueue(label: "view"))) { _ in }
      let list = try view.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
      let shown = Locked<[Int]>([])
      let observation = list.observe { rows in shown.withLock { $0 = rows.map(\.last) } }
      func write(_ last: Int) throws {
        try writer.write(origin: nil) { writing in
          for id in 1...2 {
            _ = try writing.insertOrReplaceOlder(fleet.row(id, last, stamp: Stamp(last)), for: fleet.key(id))
          }
        }
        #expect(eventually { shown.withLock { $0 == [last, last] } }, "\(last)")
      }
      for last in 1...5 { try write(last) }
      func batches() throws -> Int { try reader.pool.with { $0.batches } }
      let before = try batches()
      for last in 6...25 { try write(last) }
      // A batch of the pool for each of them would read what has changed since, once more.
      #expect(try batches() - before < 10)
      // What the view has shown itself is not taken back by what is told behind it.
      for last in 26...60 {
        _ = try view.find(Progress.self, id: 1)
        try write(last)
      }
      withExtendedLifetime(observation) {}
    }
  }
#endif
