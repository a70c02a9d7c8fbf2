#if Server
  @testable import Concord
  @testable import ConcordConnect
  @testable import ConcordPersistence
  @testable import ConcordServer
  @testable import ConcordSync
  import Foundation
  import Testing

  /// What a device notes of its actions beside its outbox: which it has sent, and how often they were refused.
  @Suite(.timeLimit(.minutes(3)))
  struct ActionNotesTests {
    @Test("An action that waits in another file than the notes ends there, too")
    func twoFiles() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let model = try Model(
          "Shop", entities: [Book.self, Line.self, Cart.self, Label.self],
          configurations: ["shop": [Book.self, Line.self, Cart.self], "labels": [Label.self]])
        func device(_ files: [String]) async throws -> Device {
          let connect = DeviceConnect(name: "Shop", model: model, forwarding: [Append.self])
          for file in files {
            try connect.attachPersistentStore(
              at: world.folder.appending(path: file), for: StoreConfiguration(fileName: file, name: file, type: .sqlite)
            )
          }
          let network = Network()
          network.base.withLock { $0 = HTTPTransport(baseURL: world.url, timeout: .seconds(40)) }
          try await connect.start()
          let sync = connect.sync(over: network, backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(40))) {
            "user-1"
          }
          return Device(connect: connect, sync: sync, network: network)
        }
        // The first file that is attached keeps actions and notes.
        let first = try await device(["shop", "labels"])
        try await first.sync.subscribe("carts").ready()
        first.network.set { _ in .lost }
        try await first.connect.forward(Append(cart: 1, text: "x"))
        try await first.stop()
        let second = try await device(["labels", "shop"])
        try await second.sync.subscribe("carts").ready()
        try await second.sync.checkpoint()
        #expect(second.connect.outbox.pending.isEmpty)
        #expect(try second.stored(Cart.self).map(\.note) == ["x"])
        #expect(try world.served(Cart.self).map(\.note) == ["x"])
        try await second.stop()
      }
    }

    @Test("What is noted of an action stays when its file is attached after the device has begun")
    func laterFile() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let first = try await world.device("a")
        try await first.sync.subscribe("carts").ready()
        // As one whose answer was lost, in a file that is not there.
        let key = SyncNotes.sending("elsewhere")
        let state = SendingState(refusals: 1, since: 0)
        try await first.connect.outbox.writeNotes { try $0.rows.setNote(state.note, for: key) }
        try await first.stop()
        let second = try await world.device("a")
        try await second.sync.checkpoint()
        #expect(try await noted(second) == ["elsewhere"])
        try await second.stop()
      }
    }

    @Test("What is noted of actions that were refused and dropped does not stay in the file")
    func droppedActions() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        for _ in 0..<50 { try await device.connect.forward(Give(cart: 9, owner: 1)) }
        try await device.sync.checkpoint()
        // One may be tried again.
        let letters = device.connect.outbox.deadLetters
        #expect(letters.count == 50)
        for letter in letters.dropFirst() { #expect(device.connect.outbox.drop(letter)) }
        try await device.stop()
        // Their file might be attached later, also after several starts. A clock that was set back keeps them no longer.
        for (expected, days) in [(50, -9.0), (50, 29), (50, 31), (1, 0)] {
          let next = try await world.device("a")
          try await next.sync.checkpoint()
          let noted = try await self.noted(next)
          #expect(noted.count == expected && noted.contains(letters[0].key.rawValue), "before \(days) days")
          let missed = try await self.noted(next, in: SyncNotes.missed)
          #expect(missed.count == expected - 1 && !missed.contains(letters[0].key.rawValue))
          let date = Date().timeIntervalSince1970 - days * 86_400
          try await next.connect.outbox.writeNotes { transaction in
            for key in missed { try transaction.rows.setNote("\(date)", for: SyncNotes.missed(key)) }
          }
          try await next.stop()
        }
      }
    }

    @Test("Nothing is known any longer of the attempts of an action whose answers were lost once a page has ended it")
    func endedByPage() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a", network: Network { $0.isForPages ? .pass : .answerLost })
        try await device.sync.subscribe("carts").ready()
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(try await eventually { device.connect.outbox.pending.isEmpty })
        await device.connect.outbox.idle()
        #expect(device.sync.state.withLock { $0.sent.isEmpty })
        try await device.stop()
      }
    }

    @Test("What is known of the attempts of actions gives way to new ones where their files have the actions no longer")
    func attemptsOfEnded() {
      var sent = SentActions()
      for number in 0..<SentActions.mostActions { _ = sent.begin("\(number)", with: "t", isFirst: true) }
      let new = sent.begin("new", with: "t", isFirst: true)
      #expect(sent.isFull && !new.isNew)
      sent.forget(besides: ["1", "new"])
      #expect(!sent.isFull && sent.wasSent("1", with: "t") && !sent.wasSent("2", with: "t"))
      #expect(sent.begin("new", with: "t", isFirst: true).isNew)
    }

    /// The keys of the actions of which something is noted.
    private func noted(_ device: Device, in space: String = SyncNotes.sending) async throws -> [String] {
      try await device.connect.outbox.writeNotes { transaction in
        var noted: [String] = []
        try transaction.rows.notes(in: space, after: nil) { key, _ in
          noted.append(key)
          return true
        }
        return noted
      }
    }
  }
#endif
