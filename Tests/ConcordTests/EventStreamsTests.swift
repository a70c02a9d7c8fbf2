import Dispatch
import Testing

@testable import Concord

@Suite("Streams of events")
struct EventStreamsTests {
  private func elements(_ stream: AsyncStream<Int>) async -> [Int] {
    var elements: [Int] = []
    for await element in stream { elements.append(element) }
    return elements
  }

  @Test("Each gets what is sent from when it is made until the end, in order")
  func order() async {
    let streams = EventStreams<Int>(keepingNewest: 100)
    streams.send(0)
    let first = streams.stream()
    streams.send(1)
    let second = streams.stream(beginningWith: 10)
    for element in 2...50 { streams.send(element) }
    streams.end()
    streams.send(51)
    #expect(await elements(first) == Array(1...50))
    #expect(await elements(second) == [10] + Array(2...50))
    #expect(await elements(streams.stream(beginningWith: 20)) == [20])
  }

  @Test("A slow reader gets the newest ones")
  func slow() async {
    let streams = EventStreams<Int>(keepingNewest: 2)
    let (stream, other) = (streams.stream(beginningWith: 0), streams.stream())
    for element in 1...9 { streams.send(element) }
    streams.end()
    // All have been told by the time that another one has ended.
    _ = await elements(other)
    #expect(await elements(stream) == [8, 9])
  }

  // The runtime holds a lock of the task while a cancelled task's stream ends, and takes it to resume the task.
  @Test("A reader that is cancelled while it is told something holds nobody up", .timeLimit(.minutes(2)))
  func cancelled() async {
    let streams = EventStreams<Int>(keepingNewest: 1)
    for round in 0..<3_000 {
      let readers = (0..<2).map { _ in Task { [stream = streams.stream()] in for await _ in stream {} } }
      await Task.yield()
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        if number == 0 { streams.send(round) } else { for reader in readers { reader.cancel() } }
      }
      for reader in readers { await reader.value }
    }
  }
}
