import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

extension SeamlessTests {
  @Test("A view that follows nothing shows what is forwarded, before and after it was sent")
  func independentView() async throws {
    let transport = ScriptedTransport([.wait, .answer(TransportResponse(status: 400))])
    let connect = try GenericConnect<ContextStrategy.DirectIndependent>.inMemory(
      try libraryModel(), transport: transport, forwarding: [Raise.self])
    try connect.store([Book(id: 1, title: ""), Book(id: 2, title: "")])
    try await connect.start()
    let (first, second) = (
      try #require(try connect.viewContext.find(Book.self, id: 1)),
      try #require(try connect.viewContext.find(Book.self, id: 2))
    )
    try await connect.forward(Raise(book: 1, note: "a"))
    #expect(try await eventually { transport.waiting == 1 })
    try connect.store([Book(id: 2, title: "changed by others")])
    try await connect.forward(Raise(book: 2, note: "b"))
    #expect(first.value.title == "a")
    transport.release()
    try await connect.settled()
    #expect(first.value.title == "a" && second.value.title == "" && first.value.price == 1)
    #expect(try connect.kept(1)?.title == "a")
    try await connect.stop()
  }

  /// A book on the screen of a started connect, under a strategy.
  private func withBook<S: ContextStrategyType>(
    _ strategy: S.Type, _ transport: ScriptedTransport, _ kind: StoreKind = .memory, at folder: URL? = nil,
    _ body: (GenericConnect<S>, EntityObserver<Book>) async throws -> Void
  ) async throws {
    let connect = GenericConnect<S>(
      name: "Library", model: try libraryModel(), transport: transport, forwarding: [Raise.self])
    if let folder {
      try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
    } else {
      try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    }
    try connect.store([Book(id: 1, title: "")])
    try await connect.start()
    try await body(connect, try #require(try connect.viewContext.find(Book.self, id: 1)))
    try await connect.stop()
  }

  @Test("Any strategy shows and stores the same")
  func strategies() async throws {
    func run<S: ContextStrategyType>(_ strategy: S.Type) async throws {
      let transport = ScriptedTransport([.wait])
      try await withBook(strategy, transport) { connect, book in
        try connect.viewContext.update(Book.self, id: 1) { $0.title = "Emma " }
        try await connect.forward(Raise(book: 1, note: "a"))
        #expect(book.value.title == "Emma a", "\(S.self)")
        try connect.viewContext.save()
        #expect(try await eventually { transport.waiting == 1 })
        transport.release()
        try await connect.settled()
        #expect(book.value.title == "Emma a" && book.value.price == 1, "\(S.self)")
        #expect(try connect.kept(1)?.title == "Emma a", "\(S.self)")
      }
    }
    try await run(ContextStrategy.Direct.self)
    try await run(ContextStrategy.IndirectNested.self)
    try await run(ContextStrategy.Mixed.self)
  }

  @Test("What was accepted is shown also where the view has changed something else, and not saved it")
  func unsavedInView() async throws {
    func run<S: ContextStrategyType>(_ strategy: S.Type) async throws {
      let transport = ScriptedTransport([.wait])
      try await withBook(strategy, transport) { connect, book in
        let prices = Log<Double>()
        let subscription = book.observe(buffering: .every) { prices.add($0.price) }
        try await connect.forward(Raise(book: 1, note: "a"))
        #expect(try await eventually { transport.waiting == 1 })
        try connect.viewContext.update(Book.self, id: 1) { $0.shelf = 7 }
        transport.release()
        try await connect.settled()
        #expect(book.value == Book(id: 1, title: "a", price: 1, shelf: 7), "\(S.self)")
        try connect.viewContext.save()
        try await connect.settled()
        #expect(try connect.kept(1) == Book(id: 1, title: "a", price: 1, shelf: 7), "\(S.self)")
        #expect(prices.entries == prices.entries.sorted(), "\(S.self)")
        subscription.unsubscribe()
      }
    }
    try await run(ContextStrategy.Direct.self)
    try await run(ContextStrategy.DirectIndependent.self)
    try await run(ContextStrategy.IndirectNested.self)
    try await run(ContextStrategy.Mixed.self)
  }

  @Test("What the view saves while actions are accepted takes no observer a step back", arguments: StoreKind.allCases)
  func savedInView(_ kind: StoreKind) async throws {
    let count = kind.share(of: 100)
    func run<S: ContextStrategyType>(_ strategy: S.Type, _ folder: URL) async throws {
      try await withBook(strategy, ScriptedTransport(), kind, at: folder) { connect, book in
        let prices = Log<Double>()
        let subscription = book.observe(buffering: .every) { prices.add($0.price) }
        let view = connect.viewContext
        let saving = Task.detached {
          for shelf in 1...count {
            try view.update(Book.self, id: 1) { $0.shelf = shelf }
            try view.save()
            try await Task.sleep(for: .milliseconds(1))
          }
        }
        for _ in 0..<count { try await connect.forward(Raise(book: 1, note: "")) }
        try await saving.value
        try await connect.settled()
        #expect(try book.value.price == Double(count) && connect.kept(1)?.price == Double(count), "\(S.self)")
        #expect(prices.entries == prices.entries.sorted(), "\(S.self)")
        subscription.unsubscribe()
      }
    }
    try await withFolder { try await run(ContextStrategy.Direct.self, $0) }
    try await withFolder { try await run(ContextStrategy.DirectIndependent.self, $0) }
    try await withFolder { try await run(ContextStrategy.IndirectNested.self, $0) }
    try await withFolder { try await run(ContextStrategy.Mixed.self, $0) }
  }
}
