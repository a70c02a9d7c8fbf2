#if Server && os(Linux)
  import Foundation

  /// A proxy on loopback that cuts, delays, doubles and reorders what passes between devices and servers, and answers 502.
  final class HostileProxy: Sendable {
    let port: Int
    private let listener: Int32
    private let targets: [Int]
    private let numbers: Kept<SplitMix>
    private let isCalm = Kept(false)
    /// The number of connections that have ended.
    private let passed = Kept(0)
    private let reorderedCount = Kept(0)

    private enum Fate {
      case pass, refused, cutRequest(Int), cutAnswer(Int), doubled, delayed(UInt32)
      /// The request, or its answer, waits until so many later connections have passed.
      case overtakenRequest(Int), overtakenAnswer(Int)
      /// The device gets no answer, and its request comes to a server after so many later connections, as well as what it has sent again.
      case late(Int)
    }

    struct Failure: Error {}

    init(to targets: [Int], seed: UInt64) throws {
      (self.targets, numbers) = (targets, Kept(SplitMix(seed)))
      (listener, port) = try Self.listen()
      Thread.detachNewThread { [listener] in
        while true {
          let client = Foundation.accept(listener, nil, nil)
          if client < 0 { return }
          Thread.detachNewThread { [weak self] in
            self?.serve(client)
            close(client)
            self?.passed.withLock { $0 += 1 }
          }
        }
      }
    }

    /// The number of requests and answers that later ones have overtaken.
    var reordered: Int { reorderedCount.withLock { $0 } }

    /// Passes everything from now on.
    func calm() { isCalm.withLock { $0 = true } }

    func stop() {
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
    }

    /// A port that is free now.
    static func freePort() throws -> Int {
      let (socket, port) = try listen()
      close(socket)
      return port
    }

    private static func listen() throws -> (socket: Int32, port: Int) {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var yes: Int32 = 1
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      var address = address(0)
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

    private static func address(_ port: Int) -> sockaddr_in {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      return address
    }

    /// - Returns: `nil` if nobody listens there.
    static func connection(to port: Int) -> Int32? {
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = address(port)
      let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      if isConnected { return server }
      close(server)
      return nil
    }

    private func next(_ bound: UInt64) -> Int { Int(numbers.withLock { $0.next() } % bound) }

    private var fate: Fate {
      if isCalm.withLock({ $0 }) { return .pass }
      switch next(18) {
      case 0: return .refused
      case 1: return .cutRequest(next(900) + 1)
      case 2, 3: return .cutAnswer(next(900) + 1)
      case 4, 5: return .doubled
      case 6, 7: return .delayed(UInt32(next(200_000)))
      case 8: return .overtakenRequest(next(4) + 1)
      case 9: return .overtakenAnswer(next(4) + 1)
      case 10, 11: return .late(next(20) + 1)
      default: return .pass
      }
    }

    /// Waits until so many other connections have passed, for two seconds at most.
    private func beOvertaken(by count: Int) {
      let start = passed.withLock { $0 }
      for _ in 0..<1000 {
        if isCalm.withLock({ $0 }) { return }
        if passed.withLock({ $0 }) >= start + count { return reorderedCount.withLock { $0 += 1 } }
        usleep(2000)
      }
    }

    /// Delivers a request for whose answer nobody waits.
    private func deliver(_ request: [UInt8], after count: Int = 0) {
      Thread.detachNewThread { [self] in
        if count > 0 { beOvertaken(by: count) }
        guard let server = Self.connection(to: targets[next(UInt64(targets.count))]) else { return }
        _ = Self.send(request, server)
        // The server is not told that nobody reads its answer.
        Self.pass(server, nil)
        close(server)
      }
    }

    private func serve(_ client: Int32) {
      let fate = fate
      var first: [UInt8] = []
      switch fate {
      case .refused:
        _ = Self.request(from: client)
        _ = Self.send(Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8), client)
        return
      case .doubled: first = Self.request(from: client)
      case .delayed(let time): usleep(time)
      case .overtakenRequest(let count):
        first = Self.request(from: client)
        beOvertaken(by: count)
      case .late(let count):
        deliver(Self.request(from: client), after: count)
        return
      default: break
      }
      guard let server = Self.connection(to: targets[next(UInt64(targets.count))]) else { return }
      defer { close(server) }
      if !first.isEmpty {
        if case .doubled = fate { deliver(first) }
        guard Self.send(first, server) else { return }
      }
      var (requests, answers): (Int?, Int?)
      if case .cutRequest(let count) = fate { requests = count }
      if case .cutAnswer(let count) = fate { answers = count }
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread { [requests] in
        Self.pass(client, server, cutAfter: requests)
        shutdown(server, Int32(SHUT_RDWR))
        done.signal()
      }
      if case .overtakenAnswer(let count) = fate {
        // The server has decided, and others learn of it first.
        var byte: UInt8 = 0
        _ = recv(server, &byte, 1, Int32(MSG_PEEK))
        beOvertaken(by: count)
      }
      // Foundation on Linux ends the process if a connection ends within the head of an answer.
      Self.pass(server, client, cutAfter: answers, fromBody: true)
      for socket in [client, server] { shutdown(socket, Int32(SHUT_RDWR)) }
      done.wait()
    }

    /// The length of a body, as its head says.
    private static func length(of head: ArraySlice<UInt8>) -> Int {
      let text = String(decoding: head, as: UTF8.self).lowercased()
      let field = text.components(separatedBy: "content-length:").dropFirst().first
      return field.flatMap { Int($0.prefix { !$0.isNewline }.filter(\.isNumber)) } ?? 0
    }

    /// Reads one request: its head, and as many bytes as that says.
    private static func request(from client: Int32) -> [UInt8] {
      var found: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        if let end = found.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound {
          if found.count >= end + length(of: found[..<end]) { return found }
        }
        let count = recv(client, &buffer, buffer.count, 0)
        if count <= 0 { return found }
        found += buffer[..<count]
      }
    }

    private static func send(_ bytes: [UInt8], _ socket: Int32) -> Bool {
      var sent = 0
      while sent < bytes.count {
        let more = bytes.withUnsafeBytes { bytes in
          Foundation.send(socket, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
        }
        if more <= 0 { return false }
        sent += more
      }
      return true
    }

    /// Passes bytes on until there are no more, or a number of them has passed, counted from the first head on if that is told.
    private static func pass(_ from: Int32, _ to: Int32?, cutAfter limit: Int? = nil, fromBody: Bool = false) {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      var left = limit
      var head: [UInt8]? = fromBody && limit != nil ? [] : nil
      while left.map({ $0 > 0 }) ?? true {
        let count = recv(from, &buffer, buffer.count, 0)
        if count <= 0 { return }
        var passed = Array(buffer[..<count])
        if let begun = head {
          let all = begun + passed
          guard let end = all.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else {
            head = all
            continue
          }
          // The head goes at once, with the beginning of the body. What follows that has a head again.
          let length = Self.length(of: all[..<end])
          guard length > 1 else { return }
          left = min(left ?? 0, length - 1)
          passed = Array(all.prefix(end + (left ?? 0)))
          left = left.map { $0 - (passed.count - end) }
          head = nil
        } else if let most = left {
          passed = Array(passed.prefix(most))
          left = most - passed.count
        }
        if let to, !send(passed, to) { return }
      }
    }
  }
#endif
