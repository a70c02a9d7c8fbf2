#if Server && os(Linux)
  import Foundation

  /// A proxy on loopback that cuts, delays, doubles and reorders what passes between devices and servers, and answers 502.
  final class HostileProxy: Sendable {
    let port: Int
    /// The port of a device that reads its answers slowly.
    let slowPort: Int
    private let listeners: [Int32]
    private let targets: [Int]
    private let numbers: Kept<SplitMix>
    /// The numbers of the fates of the next connections. All come before one comes again, so that none is left out by chance.
    private let deck = Kept<[Int]>([])
    private let isCalm = Kept(false)
    /// The number of connections that have ended.
    private let passed = Kept(0)
    private let eventCounts = Kept<[Event: Int]>([:])

    /// The end of a request, an answer or a connection that is not the usual one.
    enum Event: String, CaseIterable {
      case refused = "answered 502"
      case cutRequest = "requests cut"
      case cutAnswer = "answers cut"
      case doubled = "requests doubled"
      case delayed = "connections delayed"
      case overtakenRequest = "requests overtaken"
      case overtakenAnswer = "answers overtaken"
      case late = "requests given up, and delivered later"
      case slow = "pauses of a slow reader"
    }

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
      let (usual, slow) = (try Self.listen(), try Self.listen())
      (port, slowPort, listeners) = (usual.port, slow.port, [usual.socket, slow.socket])
      accept(from: usual.socket, isSlow: false)
      accept(from: slow.socket, isSlow: true)
    }

    private func accept(from listener: Int32, isSlow: Bool) {
      Thread.detachNewThread {
        while true {
          let client = Foundation.accept(listener, nil, nil)
          if client < 0 { return }
          Thread.detachNewThread { [weak self] in
            self?.serve(client, isSlow: isSlow)
            close(client)
            self?.passed.withLock { $0 += 1 }
          }
        }
      }
    }

    /// How often each event has happened.
    var counts: [Event: Int] { eventCounts.withLock { $0 } }

    private func count(_ event: Event) { eventCounts.withLock { $0[event, default: 0] += 1 } }

    /// Passes everything from now on.
    func calm() { isCalm.withLock { $0 = true } }

    func stop() {
      for listener in listeners {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
      }
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

    /// - Parameter buffer: the number of bytes that the system takes before they are read.
    /// - Returns: `nil` if nobody listens there.
    static func connection(to port: Int, buffer: Int32? = nil) -> Int32? {
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      if var buffer {
        setsockopt(server, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
      }
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
      let number = deck.withLock { deck in
        if deck.isEmpty { deck = numbers.withLock { numbers in (0..<18).shuffled(using: &numbers) } }
        return deck.removeLast()
      }
      let event: Event? =
        switch number {
        case 0: .refused
        case 1: .cutRequest
        case 2, 3: .cutAnswer
        case 4, 5: .doubled
        case 6, 7: .delayed
        case 8: .overtakenRequest
        case 9: .overtakenAnswer
        case 10, 11: .late
        // One that would pass has the fate that none has had so far, as a connection that was to be cut and had ended before.
        default: eventCounts.withLock { counts in Event.allCases.first { $0 != .slow && counts[$0] == nil } }
        }
      return switch event {
      case .refused: .refused
      case .cutRequest: .cutRequest(next(900) + 1)
      case .cutAnswer: .cutAnswer(next(900) + 1)
      case .doubled: .doubled
      case .delayed: .delayed(UInt32(next(200_000)))
      case .overtakenRequest: .overtakenRequest(next(4) + 1)
      case .overtakenAnswer: .overtakenAnswer(next(4) + 1)
      case .late: .late(next(20) + 1)
      case .slow, nil: .pass
      }
    }

    /// Waits until so many other connections have passed, for two seconds at most.
    ///
    /// - Returns: whether they have.
    private func isOvertaken(by count: Int) -> Bool {
      let start = passed.withLock { $0 }
      for _ in 0..<1000 {
        if isCalm.withLock({ $0 }) { return false }
        if passed.withLock({ $0 }) >= start + count { return true }
        usleep(2000)
      }
      return false
    }

    /// Delivers a request for whose answer nobody waits, a further time or late.
    private func deliver(_ request: [UInt8], after others: Int? = nil) {
      Thread.detachNewThread { [self] in
        if let others { _ = isOvertaken(by: others) }
        guard let server = Self.connection(to: targets[next(UInt64(targets.count))]) else { return }
        if !request.isEmpty, Self.send(request, server) { count(others == nil ? .doubled : .late) }
        // The server is not told that nobody reads its answer.
        Self.pass(server, nil)
        close(server)
      }
    }

    private func serve(_ client: Int32, isSlow: Bool) {
      let target = targets[next(UInt64(targets.count))]
      // A server that is not there is fate enough: devices try it again and again.
      guard let probe = Self.connection(to: target) else { return }
      close(probe)
      let fate = fate
      var first: [UInt8] = []
      switch fate {
      case .refused:
        let request = Self.request(from: client)
        let answer = Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        if Self.send(answer, client), !request.isEmpty { count(.refused) }
        return
      case .doubled: first = Self.request(from: client)
      case .delayed(let time):
        usleep(time)
        count(.delayed)
      case .overtakenRequest(let others):
        first = Self.request(from: client)
        if isOvertaken(by: others) { count(.overtakenRequest) }
      case .late(let others):
        deliver(Self.request(from: client), after: others)
        return
      default: break
      }
      guard let server = Self.connection(to: target, buffer: isSlow ? 2048 : nil) else { return }
      defer { close(server) }
      if !first.isEmpty {
        if case .doubled = fate { deliver(first) }
        guard Self.send(first, server) else { return }
      }
      var (requests, answers): (Int?, Int?)
      if case .cutRequest(let count) = fate { requests = count }
      if case .cutAnswer(let count) = fate { answers = count }
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread { [self, requests] in
        if Self.pass(client, server, cutAfter: requests) { count(.cutRequest) }
        shutdown(server, Int32(SHUT_RDWR))
        done.signal()
      }
      if case .overtakenAnswer(let others) = fate {
        // The server has decided, and others learn of it first.
        var byte: UInt8 = 0
        if recv(server, &byte, 1, Int32(MSG_PEEK)) == 1, isOvertaken(by: others) { count(.overtakenAnswer) }
      }
      let pause = {
        usleep(1000)
        self.count(.slow)
      }
      // Foundation on Linux ends the process if a connection ends within the head of an answer.
      if Self.pass(server, client, cutAfter: answers, fromBody: true, pause: isSlow ? pause : nil) { count(.cutAnswer) }
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
    ///
    /// - Parameter pause: a closure that is called after each 256 bytes; `nil` if they are passed on as they come.
    /// - Returns: whether so many have passed.
    @discardableResult
    private static func pass(
      _ from: Int32, _ to: Int32?, cutAfter limit: Int? = nil, fromBody: Bool = false,
      pause: (() -> Void)? = nil
    ) -> Bool {
      var buffer = [UInt8](repeating: 0, count: pause == nil ? 65_536 : 256)
      var left = limit
      var head: [UInt8]? = fromBody && limit != nil ? [] : nil
      while left.map({ $0 > 0 }) ?? true {
        let count = recv(from, &buffer, buffer.count, 0)
        if count <= 0 { return false }
        if count == buffer.count { pause?() }
        var passed = Array(buffer[..<count])
        if let begun = head {
          let all = begun + passed
          guard let end = all.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else {
            head = all
            continue
          }
          // The head goes at once, with the beginning of the body. What follows that has a head again.
          let length = Self.length(of: all[..<end])
          guard length > 1 else { return false }
          left = min(left ?? 0, length - 1)
          passed = Array(all.prefix(end + (left ?? 0)))
          left = left.map { $0 - (passed.count - end) }
          head = nil
        } else if let most = left {
          passed = Array(passed.prefix(most))
          left = most - passed.count
        }
        if let to, !send(passed, to) { return false }
      }
      return true
    }
  }
#endif
