import Concord
import ConcordTestSupport
import Dispatch
import Foundation
import Testing

@testable import ConcordConnect

@Suite("The events of an outbox, and its network")
struct OutboxEventsTests {
  @Test("Who asked for events and reads none is kept the last ones, and no more than those")
  func unread() async throws {
    try await withOutbox { connect in
      let (events, others) = (connect.outbox.events, connect.outbox.events)
      connect.outbox.state.withLock { state in for _ in 0..<5000 { state.tell(.cleared) } }
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      // Streams are told behind the outbox, one event after the other: after the next one all have had this one.
      for await event in others where event.word == "accepted" { break }
      connect.outbox.state.withLock { $0.tell(.cleared) }
      for await _ in others { break }
      var read: [String] = []
      for await event in events {
        read.append(event.word)
        if event.word == "accepted" { break }
      }
      #expect(read.last == "accepted" && (1023...1024).contains(read.count), "\(read.count)")
    }
  }

  @Test(
    "Who waits for the outbox of a connect that is released, or follows it, waits no longer",
    .timeLimit(.minutes(1)))
  func released() async throws {
    func run() async throws -> (Outbox, Task<Void, Never>) {
      let connect = TestConnect(
        name: "Library", model: try libraryModel(), reachability: ReachabilitySwitch(isReachable: false),
        transport: ScriptedTransport(), forwarding: [Raise.self])
      try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
      try connect.store([Book(id: 1, title: "")])
      try await connect.start()
      try await connect.forward(Raise(book: 1, note: "a"))
      let outbox = connect.outbox
      let task = Task { await outbox.idle() }
      #expect(try await eventually { outbox.state.withLock { !$0.waiting.isEmpty } })
      return (outbox, task)
    }
    let (outbox, task) = try await run()
    #expect(try await eventually { outbox.state.withLock { $0.waiting.isEmpty } })
    await task.value
    await outbox.idle()
    for await _ in outbox.events {}
  }

  #if Persistence
    @Test("Who does not send is told that an action was forwarded, also when it was sent before that could be read")
    func forwardedElsewhere() async throws {
      try await withFolder { folder in
        let follower = try resting(folder)
        try follower.store([Book(id: 1, title: "")])
        let log = collect(follower.outbox)
        let sender = try resting(folder, transport: ScriptedTransport())
        try await sender.start()
        for count in 1...3 {
          // Until both have happened it does not come to read.
          let (begun, ended) = (Gate(), DispatchSemaphore(value: 0))
          DispatchQueue.global().async {
            follower.outbox.reading.withLock {
              begun.open()
              ended.wait()
            }
          }
          await begun.passed()
          try await sender.forward(Raise(book: 1, note: "a"))
          await sender.outbox.idle()
          ended.signal()
          #expect(try await eventually { log.entries.filter { $0 == "accepted" }.count == count })
          #expect(log.entries == (0..<count).flatMap { _ in ["forwarded", "accepted"] })
        }
        try await sender.stop()
      }
    }
  #endif

  @Test("Nothing is sent before it is known that the network can be reached, also after a stop")
  func unknownNetwork() async throws {
    let network = LateNetwork()
    let transport = ScriptedTransport()
    let connect = TestConnect(
      name: "Library", model: try libraryModel(), reachability: network, transport: transport,
      forwarding: [Raise.self])
    try connect.attachPersistentStore(
      at: FileManager.default.temporaryDirectory, for: StoreConfiguration(type: .inMemory))
    try connect.store([Book(id: 1, title: "")])
    for (note, count) in [("a", 1), ("b", 2)] {
      try await connect.start()
      try await connect.forward(Raise(book: 1, note: note))
      #expect(try await eventually { connect.outbox.isSender })
      try await Task.sleep(for: .milliseconds(100))
      #expect(transport.requests.count == count - 1)
      network.say(false)
      try await Task.sleep(for: .milliseconds(100))
      #expect(transport.requests.count == count - 1)
      network.say(true)
      await connect.outbox.idle()
      #expect(transport.requests.count == count)
      try await connect.stop()
    }
  }

  @Test("A network of which nothing is ever said holds nothing up")
  func silentNetwork() async throws {
    let network = LateNetwork()
    let transport = ScriptedTransport()
    let connect = TestConnect(
      name: "Library", model: try libraryModel(), reachability: network, transport: transport,
      forwarding: [Raise.self])
    try connect.attachPersistentStore(
      at: FileManager.default.temporaryDirectory, for: StoreConfiguration(type: .inMemory))
    try connect.store([Book(id: 1, title: "")])
    try await connect.start()
    try await connect.forward(Raise(book: 1, note: "a"))
    network.end()
    await connect.outbox.idle()
    #expect(transport.requests.count == 1)
    try await connect.stop()
  }
}

/// Says nothing by itself.
private final class LateNetwork: Reachability {
  private let streams = Locked<[AsyncStream<Bool>.Continuation]>([])

  var states: AsyncStream<Bool> {
    let (stream, continuation) = AsyncStream<Bool>.makeStream()
    streams.withLock { $0.append(continuation) }
    return stream
  }

  func say(_ isReachable: Bool) { for stream in streams.withLock({ $0 }) { stream.yield(isReachable) } }
  func end() { for stream in streams.withLock({ $0 }) { stream.finish() } }
}
