#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  private struct Picture: PersistentEntity {
    let id: Int
    var bytes: Data

    static let persistentProperties: [PersistentProperty<Picture>] = [.init("id", \.id), .init("bytes", \.bytes)]

    init(id: Int, bytes: Data) { (self.id, self.bytes) = (id, bytes) }
    init(from row: inout RowReader) throws { (id, bytes) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(bytes)
    }
  }

  private struct Label: PersistentEntity {
    let id: String

    static let persistentProperties: [PersistentProperty<Label>] = [.init("id", \.id)]

    init(from row: inout RowReader) throws { id = try row.read() }
    func write(to row: inout RowWriter) throws { try row.write(id) }
  }

  @Suite("Large values in a database", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct LargeValuesTests {
    private static let model = Result { try Model("Pictures", entities: [Picture.self, Label.self]) }

    private func withStore(_ body: (PostgreSQLStore, Model) throws -> Void) throws {
      let model = try Self.model.get()
      let options = PostgreSQLOptions(
        connection: try PostgreSQLServer.shared.get().url, schema: "large-\(UUID().uuidString.prefix(8))")
      let store = try PostgreSQLStore(name: "Pictures", options, model: model, entities: model.entities)
      defer { try? store.close() }
      try body(store, model)
    }

    @Test("What is saved together becomes several statements by its size, and all of it is there")
    func manyBytes() throws {
      try withStore { store, model in
        let context = try store.context(model)
        let size = 40 << 20
        func save(_ first: UInt8) throws {
          for id in 0..<4 { context.insert(Picture(id: id, bytes: Data(repeating: first + UInt8(id), count: size))) }
          try context.save()
        }
        // Those that are inserted, and those whose columns are updated.
        for first: UInt8 in [1, 100] {
          try save(first)
          for id in 0..<4 {
            let found = try context.find(Picture.self, id: id)?.bytes
            #expect(found?.count == size && found?.first == first + UInt8(id) && found?.last == first + UInt8(id))
          }
        }
      }
    }

    @Test("Rows are written in parts by their size, not by their number alone")
    func parts() throws {
      let model = try Self.model.get()
      let table = PostgreSQLTable(try model.entity(Picture.self))
      let part = Data(repeating: 7, count: ParameterRows.mostBytes / 4)
      var (writes, count) = (WaitingWrites(), 0)
      var areMany = false
      while !areMany, count < 10 {
        let update = RowUpdate(positions: [1], values: [.integer(Int64(count)), .blob(part)], 1)
        areMany = try writes.append(update, of: .integer(Int64(count)), table) { value, form, row in
          _ = form.append(value, to: &row)
        }
        count += 1
      }
      #expect(count == 4)
      #expect(writes.take().count == 1 && writes.isEmpty)
    }

    @Test("Values that the server would not take are refused by their size")
    func tooLarge() throws {
      try PostgreSQLConnection.check(size: 1 << 29, "")
      #expect {
        try PostgreSQLConnection.check(size: 1 << 30, "")
      } throws: { error in
        guard let failure = error as? PostgreSQLFailure, !failure.isConnectionLost, !failure.isConflict else {
          return false
        }
        return "\(StoreError(failure, store: "Pictures"))".contains(
          "1073741824 bytes, and PostgreSQL takes less than 1 GB")
      }
    }

    @Test("Where the first value is too large, nothing is written, whatever a closure makes of the error")
    func tooLargeAtFirst() throws {
      try withStore { store, model in
        #expect(store.pool.count == 1)
        try store.pool.with { $0.messageLimit = 1000 }
        let picture = try model.entity(Picture.self)
        func insert(_ id: Int, _ size: Int, _ writing: any RowWriting) throws {
          let row = try picture.row(of: Picture(id: id, bytes: Data(count: size)), stamp: 1)
          _ = try writing.insert(row, for: EntityKey(picture, .integer(Int64(id))))
        }
        #expect(throws: StoreError.self) {
          try store.write(origin: nil) { writing in
            // What the closure makes of the error does not matter.
            do {
              try insert(1, 2000, writing)
              Issue.record("it is inserted")
            } catch is StoreError {}
            try insert(2, 10, writing)
          }
        }
        #expect(try store.context(model).count(FetchDescriptor<Picture>()) == 0)
        try store.write(origin: nil) { try insert(3, 10, $0) }
        #expect(try store.context(model).count(FetchDescriptor<Picture>()) == 1)
        // What is read then is of one state all the same.
        let label = EntityKey(try model.entity(Label.self), .text(String(repeating: "a", count: 2000)))
        try store.read { reading in
          do {
            _ = try reading.row(of: label)
            Issue.record("it is looked for")
          } catch is StoreError {}
          #expect(try reading.row(of: EntityKey(picture, .integer(3))) != nil)
          #expect((reading as? PostgreSQLSession)?.connection.isInTransaction == true)
        }
        #expect(store.pool.count == 1)
      }
    }

    @Test("Times without a limit are long ones", arguments: [Double.infinity, -.infinity, .nan, 1e300, -1])
    func times(_ time: Double) throws {
      var options: StoreConfiguration.Options = [
        ConcordPostgreSQLOption: try PostgreSQLServer.shared.get().url,
        ConcordPostgreSQLSchemaOption: "large-\(UUID().uuidString.prefix(8))",
      ]
      for name in [
        ConcordPostgreSQLTimeoutOption, ConcordPostgreSQLIdleTimeOption, ConcordPostgreSQLPollIntervalOption,
        ConcordPostgreSQLFeedRetentionOption,
      ] where time > 0 || name != ConcordPostgreSQLTimeoutOption {
        options[name] = time
      }
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Pictures", model: try Self.model.get())
      try container.attachPersistentStore(for: StoreConfiguration(type: .postgreSQL, options: options))
      let context = container.newBackgroundContext()
      let list = try container.viewContext.query(FetchDescriptor<Picture>())
      context.insert(Picture(id: 1, bytes: Data([1])))
      try context.save()
      #expect(eventually { list.value.count == 1 })
      try container.detach(persistentStores: container.persistentStores)
    }

    @Test("A reading that has ended is not taken for the present one by a task that has inherited it")
    func inheritedReading() throws {
      try withStore { store, model in
        let context = try store.context(model)
        context.insert(Picture(id: 1, bytes: Data([1])))
        try context.save()
        let key = EntityKey(try model.entity(Picture.self), .integer(1))
        var inherited: PostgreSQLStore.Current?
        #expect(
          try store.read { reading in
            inherited = PostgreSQLStore.current
            return try reading.row(of: key)
          } != nil)
        #expect(inherited != nil)
        // As a task does that runs later, on the same thread.
        try PostgreSQLStore.$current.withValue(inherited) {
          let session = try store.read { (reading: any RowReading) throws -> ObjectIdentifier? in
            #expect(try reading.row(of: key) != nil)
            return PostgreSQLStore.current?.session.map { ObjectIdentifier($0) }
          }
          #expect(session != nil && session != inherited?.session.map { ObjectIdentifier($0) })
        }
      }
    }
  }
#endif
