import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Devices without stores, in a process of their own: sockets that wait for pages, and note how late the changes come.
struct Crowd {
  /// What the devices have seen.
  struct Report: Codable {
    /// The number of pages with changes, and of all.
    var changes = 0
    var pages = 0
    /// The time from a commit to the device, in nanoseconds: the median, what 99 of 100 did not exceed, and the longest.
    var median = 0.0
    var percentile99 = 0.0
    var longest = 0.0
  }

  private static let variable = "CONCORD_BENCHMARK_CROWD"

  /// Starts a process with so many devices of so many customers.
  static func start(_ devices: Int, customers: Int, port: Int, output: Pipe, input: Pipe) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.environment = ProcessInfo.processInfo.environment.merging([variable: "\(devices) \(customers) \(port)"]) {
      $1
    }
    (process.standardOutput, process.standardInput) = (output, input)
    try process.run()
    return process
  }

  /// Lets this process have as many sockets as it may.
  static func raiseLimit() throws {
    var limit = rlimit()
    #if canImport(Darwin)
      let kind = RLIMIT_NOFILE
    #else
      let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
    getrlimit(kind, &limit)
    limit.rlim_cur = min(limit.rlim_max, 20_000)
    setrlimit(kind, &limit)
  }

  /// Is the crowd if this process was started as one: a byte is written when all wait, and the report when the input ends.
  static func beIfAsked() throws -> Bool {
    guard let words = ProcessInfo.processInfo.environment[variable]?.split(separator: " ").compactMap({ Int($0) }),
      words.count == 3
    else { return false }
    var crowd = Crowd(devices: try (0..<words[0]).map { try Member($0, customers: words[1], port: words[2]) })
    let report = try crowd.run()
    FileHandle.standardOutput.write(try JSONEncoder().encode(report))
    return true
  }

  private var devices: [Member]
  private var lags: [Double] = []

  private mutating func run() throws -> Report {
    var report = Report()
    // The last one is the input.
    var waiting = devices.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
    waiting.append(pollfd(fd: 0, events: Int16(POLLIN), revents: 0))
    // Not all at once: each begins with a page.
    var begun = 0
    var isReady = false
    while true {
      while begun < devices.count, begun < report.pages + 20 {
        try devices[begun].send()
        begun += 1
      }
      if !isReady, devices.allSatisfy(\.isWaiting) {
        isReady = true
        FileHandle.standardOutput.write(Data([1]))
      }
      try expect(poll(&waiting, nfds_t(waiting.count), 60_000) > 0, "nothing came for a minute")
      if waiting[devices.count].revents != 0 { break }
      for index in devices.indices where waiting[index].revents != 0 {
        guard let page = try devices[index].receive() else { continue }
        report.pages += 1
        for time in Self.times(in: page) {
          report.changes += 1
          if isReady { lags.append(Stopwatch().now - time) }
        }
        try devices[index].send()
      }
    }
    lags.sort()
    if let longest = lags.last {
      report.median = lags[lags.count / 2]
      report.percentile99 = lags[min(lags.count - 1, lags.count * 99 / 100)]
      report.longest = longest
    }
    return report
  }

  /// The times of commits, which stand in the notes of orders.
  private static func times(in page: [UInt8]) -> [Double] {
    String(decoding: page, as: UTF8.self).split(separator: "\"committed ").dropFirst().compactMap {
      Double($0.prefix { $0.isNumber })
    }
  }

  /// The note of an order that is committed now.
  static var note: String { "committed \(Int(Stopwatch().now))" }

  private struct Member {
    let socket: Int32
    private var device: LightDevice
    private let customer: Int
    private var received: [UInt8] = []
    private(set) var isWaiting = false

    init(_ number: Int, customers: Int, port: Int) throws {
      device = LightDevice(name: "device-\(number)", publication: "orders")
      customer = number % customers
      #if canImport(Darwin)
        socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
      #else
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      #endif
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try expect(result == 0, "a device cannot connect: \(errno)")
    }

    mutating func send() throws {
      isWaiting = device.position != nil
      let body = device.request(wait: 25)
      let request = Array(
        """
        POST /sync/pages HTTP/1.1\r
        Host: localhost\r
        Authorization: Bearer \(customer)\r
        Content-Type: application/json\r
        Content-Length: \(body.utf8.count)\r
        \r
        \(body)
        """.utf8)
      var sent = 0
      while sent < request.count {
        let more = request[sent...].withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
        try expect(more > 0, "a device cannot send")
        sent += more
      }
    }

    /// - Returns: a page, when it is complete.
    mutating func receive() throws -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = read(socket, &buffer, buffer.count)
      try expect(count > 0, "the server has closed the connection")
      received += buffer[..<count]
      guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
      let head = String(decoding: received[..<end.lowerBound], as: UTF8.self).lowercased()
      try expect(head.hasPrefix("http/1.1 200"), "the server answered: \(head)")
      let field = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
      let length = field.flatMap { Int($0.drop { !$0.isNumber }) } ?? 0
      guard received.count >= end.upperBound + length else { return nil }
      let page = Array(received[end.upperBound..<end.upperBound + length])
      received.removeSubrange(..<(end.upperBound + length))
      try device.take(page)
      return page
    }
  }
}
