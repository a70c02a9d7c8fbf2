import FlyingSocks
import Foundation

/// Waits for sockets as another pool does, and makes them send at once what they are given.
///
/// Otherwise the body of an answer waits until the other side has acknowledged its header fields, which it does 40 milliseconds
/// later (RFC 896 and RFC 1122, 4.2.3.2). Sockets have that from the one which listens, and the first wait is that one's.
struct PromptSocketPool<Base: AsyncSocketPool>: AsyncSocketPool {
  let base: Base

  func prepare() async throws { try await base.prepare() }

  func run() async throws { try await base.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    var isOn: Int32 = 1
    setsockopt(
      socket.file.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout.size(ofValue: isOn)))
    try await base.suspendSocket(socket, untilReadyFor: events)
  }
}
