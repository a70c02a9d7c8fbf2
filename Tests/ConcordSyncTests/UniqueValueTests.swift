#if Server
  import Concord
  import ConcordServer
  import ConcordTestSupport
  import Foundation
  import Testing

  @testable import ConcordSync

  /// A list of labels, each of which has a name of its own.
  private struct Tagged: PersistentEntity, Aggregate {
    let id: Int
    var owner: Int
    var labels: [Label]

    static let persistentProperties: [PersistentProperty<Tagged>] = [
      .init("id", \.id), .init("owner", \.owner), .init("labels", \.labels),
    ]
    init(from row: inout RowReader) throws {
      self.init(id: try row.read(), owner: try row.read(), labels: try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(owner)
      try row.write(labels)
    }
    init(id: Int, owner: Int = 1, labels: [Label]) { (self.id, self.owner, self.labels) = (id, owner, labels) }
  }

  /// Unique values that go from one row to another.
  @Suite(.timeLimit(.minutes(2)))
  struct UniqueValueTests {
    /// The server does not know it, and refuses it.
    struct EditLabel: SyncAction {
      var label: Int
      var name: String
      static let name = "edit-label"
      var entity: AnyEntityReference { .init(Label.self, id: label) }
      func apply(to store: EntityStore) throws { store.update(Label.self, id: label) { $0.name = name } }
    }

    @Test(
      "A row that stays because of an action that waits gives its unique value to the row that has it on the server")
    func heldRow() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Label(id: 1, owner: 1, name: "a"))
          context.insert(Label(id: 3, owner: 1, name: "c"))
        }
        let device = try await world.device("a")
        device.connect.outbox.policy = OutboxPolicy(
          backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(40)))
        try await device.sync.subscribe("labels").ready()
        device.network.set { _ in .lost }
        for label in [1, 3] {
          for name in ["x", "y"] {
            try await device.connect.forward(EditLabel(label: label, name: "\(name)\(label)"))
          }
        }
        device.network.set { $0.isForPages ? .lost : .pass }
        #expect(try await eventually { device.connect.outbox.deadLetters.count == 2 })
        try world.serve { context in
          try context.delete(Label.self, id: 1)
          try context.delete(Label.self, id: 3)
          context.insert(Label(id: 2, owner: 1, name: "a"))
        }
        device.network.set { _ in .pass }
        #expect(try await eventually { try device.stored(Label.self).contains { $0.id == 2 } })
        #expect(try await eventually { device.sync.status == .upToDate })
        // The other one is not in the way, and stays as long as its action does.
        #expect(try device.stored(Label.self).map(\.id).sorted() == [2, 3])
        #expect(device.connect.outbox.pending.count == 2)
        try await device.stop()
      }
    }

    @Test(
      "What stays because it is inside of a row for which an action waits gives way together with that row, and with nothing else",
      arguments: [false, true])
    func insideHeldRow(_ isOfSubscription: Bool) throws {
      let model = try Model("Tags", entities: [Tagged.self, Label.self])
      let (tagged, label) = (try model.entity(Tagged.self), try model.entity(Label.self))
      func labelRow(_ id: Int, _ name: String) -> StoredRow {
        StoredRow(values: [.integer(Int64(id)), .integer(1), .text(name)], collections: [], stamp: 1)
      }
      try MemoryStore(name: "device").write(origin: nil) { writing in
        func key(_ entity: EntityDescription, _ id: Int) -> EntityKey { EntityKey(entity, .integer(Int64(id))) }
        for (id, name) in [(1, "e\u{301}"), (2, "b")] {
          _ = try writing.insert(labelRow(id, name), for: key(label, id))
          try writing.setNote("", for: SyncNotes.row(key(label, id)))
          let labels = StoredElements([[.integer(Int64(id))]])
          _ = try writing.insert(
            StoredRow(values: [.integer(Int64(id)), .integer(1), .integer(1)], collections: [labels], stamp: 1),
            for: key(tagged, id))
          try writing.setNote("", for: SyncNotes.row(key(tagged, id)))
        }
        try writing.setNote("known", for: SyncNotes.subscription("s"))
        if isOfSubscription {
          try writing.setNote("", for: NoteName(SyncNotes.roots(of: "s"), key(tagged, 1).noteName))
        }
        let held: Set<EntityKey> = [key(tagged, 1), key(tagged, 2)]
        var removal = try RowsLeaving(model: model, writing: writing, held: held)
        // The same name, in another form.
        let row = labelRow(3, "\u{E9}")
        #expect(throws: StoreError.self) { try writing.insert(row, for: key(label, 3)) }
        let removed = try removal.makeWay(for: row, label, keeping: [])
        #expect(removed == (isOfSubscription ? [] : [key(tagged, 1), key(label, 1)]) && removal.held == held)
        if !isOfSubscription { #expect(try writing.insert(row, for: key(label, 3))) }
        #expect(try writing.row(of: key(tagged, 2)) != nil && writing.row(of: key(label, 2)) != nil)
      }
    }

    /// Is about a list of labels, and changes nothing of it.
    private struct Look: SyncAction {
      var list: Int
      static let name = "look"
      var entity: AnyEntityReference { .init(Tagged.self, id: list) }
      func apply(to store: EntityStore) throws {}
    }

    @Test(
      "A page is applied whose row has the unique value of one that stays inside of a row for which an action waits")
    func pageOfHeldRow() async throws {
      let model = try Model("Tags", entities: [Tagged.self, Label.self])
      let server = try ServerContainer.inMemory(model)
      func serve(_ body: (BackgroundContext) throws -> Void) throws {
        let context = server.newBackgroundContext()
        try body(context)
        try context.save()
      }
      try serve { context in
        for id in [1, 2] { context.insert(Tagged(id: id, labels: [Label(id: id, owner: 1, name: "a\(id)")])) }
      }
      let service = SyncService<User>(server, actions: [Look.self]) { _ in nil }
      service.publish("tagged", of: Tagged.self) { user, _ in
        let id = user.id
        return #Predicate<Tagged> { $0.owner == id }
      }
      service.allow(Look.self) { _, _ in true }
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-sync-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let connect = DeviceConnect(name: "Tags", model: model, forwarding: [Look.self])
      try connect.attachPersistentStore(at: folder, for: StoreConfiguration(type: .sqlite))
      try await connect.start()
      let isLost = Kept(false)
      let sync = connect.sync(
        over: PassingTransport { request in
          if isLost.withLock({ $0 }), !request.isForPages { throw TransportError.unreachable(reason: "lost") }
          return try await service.transport(as: User(id: 1)).send(request)
        })
      try await sync.subscribe("tagged").ready()
      isLost.withLock { $0 = true }
      try await connect.forward(Look(list: 1))
      func stored() throws -> [[Int]] {
        let context = BackgroundContext(parent: connect.persistentStoreCoordinator)
        return [
          try context.fetch(FetchDescriptor<Tagged>()).map(\.id).sorted(),
          try context.fetch(FetchDescriptor<Label>()).map(\.id).sorted(),
        ]
      }
      // It leaves, and stays for the action.
      try serve { try $0.update(Tagged.self, id: 1) { $0.owner = 2 } }
      try serve { try $0.update(Label.self, id: 2) { $0.name = "b" } }
      #expect(try await eventually { try connect.viewContext.find(Label.self, id: 2)?.value.name == "b" })
      #expect(try stored() == [[1, 2], [1, 2]])
      // What it contains takes another name, which the device is not told, and a row that the device gets takes that which it had.
      try serve { context in
        try context.update(Label.self, id: 1) { $0.name = "c" }
        try context.update(Tagged.self, id: 2) { $0.labels.append(Label(id: 3, owner: 1, name: "a1")) }
      }
      #expect(try await eventually { try stored() == [[2], [2, 3]] }, "\(sync.status)")
      #expect(connect.outbox.pending.count == 1)
      isLost.withLock { $0 = false }
      try await sync.checkpoint()
      #expect(try stored() == [[2], [2, 3]] && connect.outbox.pending.isEmpty)
      try await connect.stop()
    }
  }
#endif
