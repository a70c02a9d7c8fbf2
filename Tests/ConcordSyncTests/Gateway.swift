#if Server && os(Linux)
  import Foundation

  /// What passes everything on to a port of this machine, until it is closed.
  final class Gateway: Sendable {
    let port: Int
    private let target: Int
    private let state = Kept((listener: Int32(-1), open: [Int32]()))

    struct Failure: Error {}

    init(to target: Int) throws {
      self.target = target
      let listener: Int32
      (listener, port) = try Self.listen(at: 0)
      begin(listener)
    }

    /// Refuses connections from now on, and ends those that are there, as where no server is.
    func close() {
      let (listener, open) = state.withLock { state in
        defer { state = (-1, []) }
        return (state.listener, state.open)
      }
      for descriptor in open + [listener] { shutdown(descriptor, Int32(SHUT_RDWR)) }
      Foundation.close(listener)
    }

    func reopen() throws { begin(try Self.listen(at: port).listener) }

    private func begin(_ listener: Int32) {
      state.withLock { $0.listener = listener }
      Thread.detachNewThread { [weak self] in
        while true {
          let client = accept(listener, nil, nil)
          if client < 0 { return }
          self?.pass(client)
        }
      }
    }

    private func pass(_ client: Int32) {
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.address(target)
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isConnected else {
        for descriptor in [client, server] { Foundation.close(descriptor) }
        return
      }
      state.withLock { $0.open += [client, server] }
      let ended = Kept(0)
      for (from, to) in [(client, server), (server, client)] {
        Thread.detachNewThread { [weak self] in
          var bytes = [UInt8](repeating: 0, count: 16_384)
          while true {
            let count = recv(from, &bytes, bytes.count, 0)
            if count <= 0 || send(to, bytes, count, Int32(MSG_NOSIGNAL)) != count { break }
          }
          shutdown(to, Int32(SHUT_RDWR))
          let isLast = ended.withLock { ended in
            ended += 1
            return ended == 2
          }
          guard isLast else { return }
          self?.state.withLock { $0.open.removeAll { $0 == client || $0 == server } }
          for descriptor in [client, server] { Foundation.close(descriptor) }
        }
      }
    }

    private static func address(_ port: Int) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      return address
    }

    private static func listen(at port: Int) throws -> (listener: Int32, port: Int) {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var yes: Int32 = 1
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      var address = address(port)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isListening = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(listener, address, length) == 0 && Foundation.listen(listener, 64) == 0
            && getsockname(listener, address, &length) == 0
        }
      }
      guard isListening else { throw Failure() }
      return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }
  }
#endif
