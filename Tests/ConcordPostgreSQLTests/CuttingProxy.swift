#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation

  /// Passes on bytes between stores and a server, and cuts all connections after a number of them.
  final class CuttingProxy: Sendable {
    let port: Int
    private let listener: Locked<Int32>
    private let target: Int
    private let state = Locked(State())

    private struct State {
      /// How many bytes still pass; `nil` if all do.
      var left: Int?
      var cutsAnswers = false
      /// How many have passed in each direction since ``CuttingProxy/count()``.
      var passed = (requests: 0, answers: 0)
      var isStopped = false
    }

    init(to target: Int) throws {
      self.target = target
      let opened = try Self.open(0)
      (listener, port) = (Locked(opened.listener), opened.port)
      Thread.detachNewThread { self.accept(opened.listener) }
    }

    private static func open(_ port: Int) throws -> (listener: Int32, port: Int) {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var yes: Int32 = 1
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      var address = address(port)
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isListening = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(listener, address, length) == 0 && listen(listener, 64) == 0
            && getsockname(listener, address, &length) == 0
        }
      }
      guard isListening else { throw PostgreSQLServer.Failure(description: "no port to listen at") }
      return (listener, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Refuses connections, as where no server is, and accepts them again.
    func refuse() {
      let listener = listener.withLock { $0 }
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
    }

    func goOn() throws {
      let opened = try Self.open(port)
      listener.withLock { $0 = opened.listener }
      Thread.detachNewThread { self.accept(opened.listener) }
    }

    /// Cuts after some more bytes in one direction.
    func cut(after count: Int, ofAnswers: Bool) { state.withLock { ($0.left, $0.cutsAnswers) = (count, ofAnswers) } }
    /// Whether the bytes after which it cuts have not passed yet.
    var isToCut: Bool { state.withLock { $0.left != nil } }
    func cutNoMore() { state.withLock { $0.left = nil } }

    /// Counts the bytes that pass from now on.
    func count() { state.withLock { $0.passed = (0, 0) } }
    var counted: (requests: Int, answers: Int) { state.withLock { $0.passed } }

    func stop() {
      state.withLock { $0.isStopped = true }
      refuse()
    }

    private static func address(_ port: Int) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      return address
    }

    private func accept(_ listener: Int32) {
      while true {
        let client = Foundation.accept(listener, nil, nil)
        if client < 0 { return }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(target)
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
          }
        }
        guard isConnected else {
          close(client)
          close(server)
          continue
        }
        let open = Locked(2)
        for (from, to, isAnswer) in [(client, server, false), (server, client, true)] {
          Thread.detachNewThread { [self] in
            pass(from, to, isAnswer)
            shutdown(from, Int32(SHUT_RDWR))
            shutdown(to, Int32(SHUT_RDWR))
            let isLast = open.withLock { open in
              open -= 1
              return open == 0
            }
            if isLast {
              close(from)
              close(to)
            }
          }
        }
      }
    }

    private func pass(_ from: Int32, _ to: Int32, _ isAnswer: Bool) {
      var buffer = [UInt8](repeating: 0, count: 65536)
      while true {
        let count = recv(from, &buffer, buffer.count, 0)
        if count <= 0 { return }
        let (passed, isCut) = state.withLock { state -> (Int, Bool) in
          if isAnswer { state.passed.answers += count } else { state.passed.requests += count }
          guard let left = state.left, state.cutsAnswers == isAnswer else { return (count, false) }
          if count < left {
            state.left = left - count
            return (count, false)
          }
          state.left = nil
          return (left, true)
        }
        var sent = 0
        while sent < passed {
          let more = buffer.withUnsafeBytes { send(to, $0.baseAddress! + sent, passed - sent, Int32(MSG_NOSIGNAL)) }
          if more <= 0 { return }
          sent += more
        }
        if isCut { return }
      }
    }
  }
#endif
