#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordSync

  /// A list of labels, each of which has a name of its own.
  private struct Tagged: PersistentEntity, Aggregate {
    let id: Int
    var labels: [Label]

    static let persistentProperties: [PersistentProperty<Tagged>] = [.init("id", \.id), .init("labels", \.labels)]
    init(from row: inout RowReader) throws { (id, labels) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(labels)
    }
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
            StoredRow(values: [.integer(Int64(id)), .integer(1)], collections: [labels], stamp: 1), for: key(tagged, id)
          )
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
  }
#endif
