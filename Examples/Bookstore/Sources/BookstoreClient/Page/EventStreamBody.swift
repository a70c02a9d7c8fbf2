import FlyingFox
import FlyingSocks
import Foundation

/// The body of a response that does not end: server-sent events, each a message in JSON.
struct EventStreamBody: AsyncBufferedSequence {
  typealias Element = UInt8

  let listener: PageListener

  func makeAsyncIterator() -> Iterator {
    // A comment now and then: who does not read any longer is noticed when something is written.
    let reminding = Task { [listener] in
      while !Task.isCancelled {
        listener.wake()
        try? await Task.sleep(for: .seconds(10))
      }
    }
    return Iterator(listener: listener, wakes: listener.wakes { reminding.cancel() }.makeAsyncIterator())
  }

  struct Iterator: AsyncBufferedIteratorProtocol {
    let listener: PageListener
    var wakes: AsyncStream<Void>.Iterator

    mutating func next() async -> UInt8? { nil }

    mutating func nextBuffer(suggested count: Int) async -> [UInt8]? {
      guard await wakes.next() != nil else { return nil }
      guard let message = listener.take(), let data = try? JSONEncoder().encode(message) else {
        return Array(":\n\n".utf8)
      }
      return Array("data: ".utf8) + data + Array("\n\n".utf8)
    }
  }
}
