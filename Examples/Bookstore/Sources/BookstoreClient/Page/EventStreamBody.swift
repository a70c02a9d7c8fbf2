import FlyingFox
import FlyingSocks
import Foundation

/// The body of a response that does not end: server-sent events, each a message in JSON.
struct EventStreamBody: AsyncBufferedSequence {
  typealias Element = UInt8

  let messages: AsyncStream<PageMessage>

  func makeAsyncIterator() -> Iterator {
    let (chunks, continuation) = AsyncStream<[UInt8]>.makeStream()
    let telling = Task { [messages] in
      for await message in messages {
        guard let data = try? JSONEncoder().encode(message) else { continue }
        continuation.yield(Array("data: ".utf8) + data + Array("\n\n".utf8))
      }
      continuation.finish()
    }
    // A comment now and then: who does not read any longer is noticed when something is written.
    let reminding = Task {
      while !Task.isCancelled {
        continuation.yield(Array(":\n\n".utf8))
        try? await Task.sleep(for: .seconds(10))
      }
    }
    continuation.onTermination = { _ in
      telling.cancel()
      reminding.cancel()
    }
    return Iterator(chunks: chunks.makeAsyncIterator())
  }

  struct Iterator: AsyncBufferedIteratorProtocol {
    var chunks: AsyncStream<[UInt8]>.Iterator

    mutating func next() async -> UInt8? { nil }
    mutating func nextBuffer(suggested count: Int) async -> [UInt8]? { await chunks.next() }
  }
}
