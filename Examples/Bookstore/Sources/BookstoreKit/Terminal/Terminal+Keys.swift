import Foundation

extension Terminal {
  /// The keys that are pressed, until the terminal goes away. They are read on a thread, because reading waits.
  func keys() -> AsyncStream<Key> {
    let (stream, continuation) = AsyncStream.makeStream(of: Key.self)
    let keyboard = keyboard
    let thread = Thread {
      var parser = KeyParser()
      var byte: UInt8 = 0
      while true {
        let count = read(keyboard, &byte, 1)
        if count == 1 {
          if let key = parser.take(byte) { continuation.yield(key) }
        } else if count == 0 || errno != EINTR {
          continuation.finish()
          return
        }
      }
    }
    thread.name = "keys"
    thread.start()
    return stream
  }
}
