#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordSync

  /// What a device says while it writes what it has missed.
  @Suite(.timeLimit(.minutes(2)))
  struct CatchingUpTests {
    @Test("The status tells how many rows are written: of a first state, and of what a device that was away has missed")
    func progress() async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...6000 { context.insert(Book(id: id, title: "A")) } }
        let device = try await world.device("a")
        let statuses = Kept<[SyncStatus]>([])
        let reading = Task { for await status in device.sync.statuses { statuses.withLock { $0.append(status) } } }
        defer { reading.cancel() }
        /// The numbers of rows that the device has told since it was asked last.
        func told(_ total: Int) -> [Int] {
          statuses.withLock { statuses in
            defer { statuses = [] }
            return statuses.compactMap { status in
              if case .catchingUp(let done, total) = status { done } else { nil }
            }
          }
        }
        try await device.sync.subscribe("books").ready()
        #expect(try await eventually { statuses.withLock { $0.last == .upToDate } })
        let first = told(6000)
        #expect(first.contains { $0 > 0 }, "\(first)")
        #expect(first == first.sorted() && first.allSatisfy { $0 < 6000 }, "\(first)")
        // A few rows are no reason to say something.
        try world.serve { try $0.update(Book.self, id: 1) { $0.title = "B" } }
        try await device.sync.checkpoint()
        #expect(statuses.withLock { $0.isEmpty })
        // The device is away.
        device.network.set { _ in .lost }
        try world.serve { context in
          for id in 1...4000 { try context.update(Book.self, id: id) { $0.title = "C" } }
        }
        device.sync.poke()
        #expect(try await eventually { if case .offline = device.sync.status { true } else { false } })
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(try await eventually { statuses.withLock { $0.last == .upToDate } })
        let second = told(4000)
        #expect(second.contains { $0 > 0 }, "\(second)")
        #expect(second == second.sorted() && second.allSatisfy { $0 < 4000 }, "\(second)")
        #expect(try device.stored(Book.self).filter { $0.title == "C" }.count == 4000)
        try await device.stop()
      }
    }

    @Test("An answer that is longer than the transport takes is told as that, and not asked for again and again")
    func tooLarge() async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...2000 { context.insert(Book(id: id, title: "Title \(id)")) } }
        let device = try await world.device("a")
        let requests = Kept(0)
        let small = HTTPTransport(baseURL: world.url, sizeLimit: 20_000)
        device.route { request, _ in
          requests.withLock { $0 += 1 }
          return try await small.send(request)
        }
        let books = device.sync.subscribe("books")
        #expect(
          try await eventually { device.sync.status == .offline(.tooLarge(limit: 20_000)) }, "\(device.sync.status)")
        // Without a pause there would be a request every 40 ms. The subscription may be noted after the first one, and then makes another.
        let before = requests.withLock { $0 }
        try await Task.sleep(for: .milliseconds(400))
        #expect(requests.withLock { $0 } <= before + 1)
        let large = HTTPTransport(baseURL: world.url, sizeLimit: 2_000_000)
        device.route { request, _ in try await large.send(request) }
        device.sync.poke()
        try await books.ready()
        #expect(try device.stored(Book.self).count == 2000)
        try await device.stop()
      }
    }
  }
#endif
