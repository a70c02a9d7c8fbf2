#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordConnect
  @testable import ConcordPersistence
  @testable import ConcordServer
  @testable import ConcordSync

  /// Two devices with several files, some of which they share.
  @Suite(.timeLimit(.minutes(TestOptions.isLong ? 15 : 5)))
  struct FilesOfDevicesTests {
    @Test(
      "A device with all of its stores has the server's state at the position that it claims, whatever becomes of its files, and whoever else has written to them"
    )
    func random() async throws {
      for seed in TestOptions.seeds(TestOptions.isLong ? 100 : 4, from: .random(in: 1...1_000_000)) {
        try await FilesRun(seed: seed, steps: 80).run()
      }
    }
  }

  /// Two devices of a user whose stores are attached and detached while they run, and whose files are deleted and put back while none does.
  private struct FilesRun: Sendable {
    let seed: UInt64
    let steps: Int

    /// A device, while it runs and while it does not.
    private final class Slot: Sendable {
      let name: String
      let files: [StoreConfiguration]
      let device = Kept<Device?>(nil)
      init(name: String, files: [StoreConfiguration]) { (self.name, self.files) = (name, files) }
    }

    /// Whether the first file of each device has no configuration, and keeps the types of the others while these are detached. Such devices share none.
    private var isWide: Bool { seed % 3 == 0 }

    private func slots() -> [Slot] {
      (0..<2).map { number in
        func file(_ name: String, _ configuration: String?) -> StoreConfiguration {
          StoreConfiguration(fileName: name, name: configuration, options: [ConcordMoveEntitiesOption: true])
        }
        let own = file("carts\(number)", isWide ? nil : "carts")
        let labels = isWide || seed % 2 == 0 ? "labels\(number)" : "labels"
        return Slot(
          name: "device \(number)",
          files: [own, file(isWide ? "books\(number)" : "books", "books"), file(labels, "labels")])
      }
    }

    func run() async throws {
      let (seed, history) = (seed, History())
      try await withWorld(history: history) { world in
        var numbers = SplitMix(seed)
        let law = Law(history: history, model: world.container.model, seal: try world.service.prepare().seal)
        let slots = slots()
        var log: [String] = []
        for _ in 0..<10 { try change(world, &numbers) }
        for step in 0..<steps {
          let slot = slots[Int.random(in: 0..<2, using: &numbers)]
          let device = slot.device.withLock { $0 }
          let isAnyRunning = slots.contains { $0.device.withLock { $0 != nil } }
          let subscription = ["books", "carts", "labels"][Int.random(in: 0..<3, using: &numbers)]
          let number = Int.random(in: 0..<30, using: &numbers)
          log.append("\(step): \(number) \(slot.name)")
          switch number {
          case 0..<6: try change(world, &numbers)
          case 6..<10:
            guard device == nil else { break }
            try await begin(slot, in: world, &numbers)
          case 10..<13:
            slot.device.withLock { $0 = nil }
            try await device?.stop()
          case 13..<16: device?.sync.subscribe(subscription)
          // Its rows may be in a store that is not attached.
          case 16, 17: try? await device?.sync.subscribe(subscription).cancel()
          case 18, 19: device?.network.set { _ in .lost }
          case 20, 21:
            // The first one of a device of the other kind keeps what the others do not.
            let stores = device?.connect.persistentStores.filter { !isWide || $0.configurationName != nil } ?? []
            guard stores.count > 1, let store = stores.randomElement(using: &numbers) else { break }
            try device?.connect.detach(persistentStore: store)
          case 22, 23: if let device { try attach(slot.files.randomElement(using: &numbers), to: device, in: world) }
          case 24, 25: if !isAnyRunning { try lose(slot, in: world, &numbers) }
          case 26: if let device { try await synchronise(device) }
          default:
            guard let device else { break }
            for file in slot.files { try attach(file, to: device, in: world) }
            device.network.set { _ in .pass }
            try await device.sync.checkpoint()
          }
          for slot in slots {
            guard let device = slot.device.withLock({ $0 }), let found = try await violations(of: device, law) else {
              continue
            }
            try #require(found.isEmpty, "seed \(seed): \(slot.name): \(found.first ?? ""), after \(log.suffix(30))")
          }
        }
        for slot in slots { try await slot.device.withLock { $0 }?.stop() }
        for slot in slots { try await settle(slot, in: world, law) }
      }
    }

    private func model() throws -> Model {
      try Model(
        "Shop", entities: [Book.self, Line.self, Cart.self, Label.self],
        configurations: ["carts": [Line.self, Cart.self], "books": [Book.self], "labels": [Label.self]])
    }

    /// Changes what the server has.
    private func change(_ world: World, _ numbers: inout SplitMix) throws {
      let (id, text) = (Int.random(in: 1...5, using: &numbers), "\(numbers.next() % 1000)")
      let kind = Int.random(in: 0..<8, using: &numbers)
      let stock = Int.random(in: 0...1, using: &numbers)
      let owner = Int.random(in: 1...2, using: &numbers)
      try world.serve { context in
        switch kind {
        case 0..<2:
          if try context.find(Book.self, id: id) == nil { context.insert(Book(id: id, title: text, stock: stock)) }
          try context.update(Book.self, id: id) { ($0.title, $0.stock) = (text, stock) }
        case 2: _ = try context.delete(Book.self, id: id)
        case 3..<5:
          if try context.find(Cart.self, id: id) == nil { context.insert(Cart(id: id, owner: owner)) }
          let book = try context.fetch(FetchDescriptor<Book>()).first { $0.id >= owner * 2 }
          try context.update(Cart.self, id: id) { cart in
            cart.owner = owner
            if stock == 0 { cart.lines.append(Line(id: "\(id) \(text)", book: book)) } else { cart.lines = [] }
          }
        case 5: _ = try context.delete(Cart.self, id: id)
        case 6:
          if try context.find(Label.self, id: id) == nil {
            context.insert(Label(id: id, owner: owner, name: "\(id)"))
          }
          try context.update(Label.self, id: id) { $0.owner = owner }
        default: _ = try context.delete(Label.self, id: id)
        }
      }
    }

    /// Begins a device with some or all of its stores, of which any may be the first one unless that keeps what the others do not.
    private func begin(_ slot: Slot, in world: World, _ numbers: inout SplitMix) async throws {
      var files = slot.files
      if !isWide, numbers.next() % 3 == 0 { files.shuffle(using: &numbers) }
      if numbers.next() % 4 == 0 { files.removeLast() }
      let chosen = files
      let device = try await world.device(slot.name, model: model()) { connect in
        for file in chosen { try connect.attachPersistentStore(at: world.folder, for: file) }
      }
      slot.device.withLock { $0 = device }
    }

    private func attach(_ file: StoreConfiguration?, to device: Device, in world: World) throws {
      guard let file, !device.connect.persistentStores.contains(where: { $0.configurationName == file.name }) else {
        return
      }
      try device.connect.attachPersistentStore(at: world.folder, for: file)
    }

    /// Deletes a file, copies it, or puts the copy in its place.
    private func lose(_ slot: Slot, in world: World, _ numbers: inout SplitMix) throws {
      guard let name = slot.files.randomElement(using: &numbers)?.fileName else { return }
      let file = world.folder.appending(path: name)
      let copy = world.folder.appending(path: "\(name)-copy")
      let kind = numbers.next() % 3
      let (from, to) = kind == 0 ? (file, copy) : (copy, file)
      guard kind == 2 || FileManager.default.fileExists(atPath: from.path) else { return }
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: to.path + end) }
      if kind < 2 { try FileManager.default.copyItem(at: from, to: to) }
    }

    /// Lets a device ask the server, also where it cannot write what it gets, since a store is not attached.
    private func synchronise(_ device: Device) async throws {
      device.network.set { _ in .pass }
      let isDone = Kept(false)
      let task = Task {
        try await device.sync.checkpoint()
        isDone.withLock { $0 = true }
      }
      let isOver = try await eventually {
        if case .offline(.storeFailed) = device.sync.status { return true }
        return isDone.withLock { $0 }
      }
      #expect(isOver, "seed \(seed): \(device.sync.status)")
      task.cancel()
    }

    /// - Returns: what a device has otherwise than the server at the position that it claims; `nil` if it claims none, or has not all of its stores.
    private func violations(of device: Device, _ law: Law) async throws -> [String]? {
      let (model, fingerprint) = (device.connect.model, device.sync.fingerprint)
      return try await device.connect.outbox.writeNotes { transaction in
        let rows = transaction.rows
        guard let stores = rows as? any OutboxesWriting, model.entities.allSatisfy(stores.isKept) else { return nil }
        guard try DeviceState(rows, model, fingerprint: fingerprint).position != nil else { return nil }
        return law.violations(of: try Moment(rows, model, user: 1))
      }
    }

    /// A device that goes on alone has the server's state after one page, and loses it no more.
    private func settle(_ slot: Slot, in world: World, _ law: Law) async throws {
      for isFirst in [true, false] {
        let (count, network) = (Kept(0), Network { _ in .lost })
        let device = try await world.device(slot.name, network: network, model: model()) { connect in
          for file in slot.files { try connect.attachPersistentStore(at: world.folder, for: file) }
        }
        device.route { request, transport in
          let response = try await transport.send(request)
          if request.isForPages, let page = try? Page(parsing: response.body, shopModel()) {
            count.withLock { $0 += page.rows.count }
          }
          return response
        }
        network.set { _ in .pass }
        for name in ["books", "carts", "labels"] { try await device.sync.subscribe(name).ready() }
        try await device.sync.checkpoint()
        let found = try #require(try await violations(of: device, law), "seed \(seed): \(slot.name) claims no position")
        #expect(found.isEmpty, "seed \(seed): \(slot.name): \(found)")
        if !isFirst { #expect(count.withLock { $0 } == 0, "seed \(seed): \(slot.name) gets its rows again") }
        try await device.stop()
      }
    }
  }
#endif
