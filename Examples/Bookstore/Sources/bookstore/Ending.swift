import Dispatch
import Foundation

/// Waits until the program is interrupted or terminated. From its making on, these signals end nothing by themselves.
final class Ending {
  private let signals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  init() {
    let (signals, continuation) = AsyncStream<Void>.makeStream()
    self.signals = signals
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
  }

  func awaited() async {
    var iterator = signals.makeAsyncIterator()
    await iterator.next()
  }
}
