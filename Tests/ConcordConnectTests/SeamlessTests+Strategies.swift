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

  @Test("Any strategy shows and stores the same")
  func strategies() async throws {
    func run<S: ContextStrategyType>(_ strategy: S.Type) async throws {
      let transport = ScriptedTransport([.wait])
      let connect = try GenericConnect<S>.inMemory(try libraryModel(), transport: transport, forwarding: [Raise.self])
      try connect.store([Book(id: 1, title: "")])
      try await connect.start()
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      try connect.viewContext.update(Book.self, id: 1) { $0.title = "Emma " }
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(book.value.title == "Emma a", "\(S.self)")
      try connect.viewContext.save()
      #expect(try await eventually { transport.waiting == 1 })
      transport.release()
      try await connect.settled()
      #expect(book.value.title == "Emma a" && book.value.price == 1, "\(S.self)")
      #expect(try connect.kept(1)?.title == "Emma a", "\(S.self)")
      try await connect.stop()
    }
    try await run(ContextStrategy.Direct.self)
    try await run(ContextStrategy.IndirectNested.self)
    try await run(ContextStrategy.Mixed.self)
  }
}
