import FlyingSocks
import Foundation

/// The texts that a WebSocket's other end sends: RFC 6455, as far as a reader of short texts needs it.
///
/// `URLSession` has WebSockets too, but on Linux not with every libcurl.
struct WebSocketReader: Sendable {
  private let socket: AsyncSocket

  /// - Throws: ``FeedError``, or what the socket says.
  static func connect(to url: URL, path: String) async throws -> WebSocketReader {
    guard let host = url.host(), let port = url.port.flatMap(UInt16.init(exactly:)) else {
      throw FeedError(reason: "\(url) has no port")
    }
    let address = host == "localhost" ? "127.0.0.1" : host
    let socket = try await AsyncSocket.connected(to: .inet(ip4: address, port: port), timeout: 20)
    let reader = WebSocketReader(socket: socket)
    do {
      try await reader.shakeHands("\(host):\(port)", path)
    } catch {
      reader.close()
      throw error
    }
    return reader
  }

  func close() { try? socket.close() }

  private func shakeHands(_ authority: String, _ path: String) async throws {
    let key = Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
    let request = [
      "GET \(path) HTTP/1.1", "Host: \(authority)", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13", "", "",
    ]
    try await socket.write(Data(request.joined(separator: "\r\n").utf8))
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard head.count < 8192 else { throw FeedError(reason: "the answer has no end") }
      head.append(try await socket.read())
    }
    guard String(decoding: head, as: UTF8.self).hasPrefix("HTTP/1.1 101") else {
      throw FeedError(reason: "the server has no feed there")
    }
  }

  /// The next text; `nil` when the other end has closed.
  func next() async throws -> Data? {
    var text = Data()
    while true {
      let head = try await socket.read(bytes: 2)
      let payload = try await socket.read(bytes: try await length(head[1]))
      switch head[0] & 0x0f {
      case 0x0, 0x1:
        text += payload
        guard text.count <= 10_000_000 else { throw FeedError(reason: "a message is too long") }
        if head[0] & 0x80 != 0 { return text }
      case 0x8: return nil
      // This server sends no pings, and pongs mean nothing.
      case 0x9, 0xa: continue
      default: throw FeedError(reason: "a frame is of no known kind")
      }
    }
  }

  /// What comes from a server is not masked.
  private func length(_ byte: UInt8) async throws -> Int {
    let bytes = byte & 0x7f == 127 ? 8 : byte & 0x7f == 126 ? 2 : 0
    guard byte & 0x80 == 0 else { throw FeedError(reason: "a frame is masked") }
    if bytes == 0 { return Int(byte & 0x7f) }
    let number = try await socket.read(bytes: bytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard number <= 10_000_000 else { throw FeedError(reason: "a frame is too long") }
    return Int(number)
  }
}

/// Why a feed ended.
struct FeedError: Error, CustomStringConvertible {
  let reason: String
  var description: String { reason }
}
