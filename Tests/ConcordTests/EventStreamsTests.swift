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

  @Test("While the queue is held up, no more than twice what a stream keeps waits for it, and the newest are told")
  func heldUp() async {
    final class Element: Sendable {
      let number: Int
      private let alive: Locked<Int>
      init(_ number: Int, _ alive: Locked<Int>) {
        (self.number, self.alive) = (number, alive)
        alive.withLock { $0 += 1 }
      }
      deinit { alive.withLock { $0 -= 1 } }
    }
    let queue = DispatchQueue(label: "streams")
    let streams = EventStreams<Element>(keepingNewest: 10, on: queue)
    let (alive, stream) = (Locked(0), streams.stream())
    queue.suspend()
    for number in 1...10_000 {
      streams.send(Element(number, alive))
      #expect(alive.withLock { $0 } <= 20)
    }
    streams.end()
    queue.resume()
    var numbers: [Int] = []
    for await element in stream { numbers.append(element.number) }
    #expect(numbers.suffix(10) == Array(9_991...10_000))
    #expect(numbers == numbers.sorted())
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
