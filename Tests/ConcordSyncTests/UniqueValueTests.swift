#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Testing

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
  }
#endif
