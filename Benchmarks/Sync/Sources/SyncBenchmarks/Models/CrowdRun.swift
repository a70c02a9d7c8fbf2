import Foundation

/// One server over a file with 2,000 devices of 1,000 customers, and commits that concern two of them each.
struct CrowdRun: Codable {
  /// The bytes in use for each device, and those of resident memory.
  let inUse: Double
  let resident: Double
  let report: Crowd.Report
  /// The commits in a second.
  let rate: Double
  /// The processor time of the server in a second.
  let processor: Double

  static let found = Result { try apart() }

  private static let (devices, customers, seconds, perSecond) = (2_000, 1_000, 20.0, 200.0)

  // MARK: The process

  private static let variable = "CONCORD_BENCHMARK_CROWD_SERVER"

  /// Runs in a process of its own: in this one the heap keeps what other rows have freed, and devices would find their memory there.
  private static func apart() throws -> CrowdRun {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.environment = ProcessInfo.processInfo.environment.merging([variable: "1"]) { $1 }
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try expect(process.terminationStatus == 0, "the server of the crowd has failed")
    return try JSONDecoder().decode(CrowdRun.self, from: data)
  }

  /// Is the run if this process was started as one, and writes what it has found.
  static func beIfAsked() throws -> Bool {
    guard ProcessInfo.processInfo.environment[variable] != nil else { return false }
    FileHandle.standardOutput.write(try JSONEncoder().encode(CrowdRun()))
    return true
  }

  // MARK: The run

  private init() throws {
    let orders = (0..<10_000).map { Order(id: $0, customer: $0 % Self.customers) }
    let server = try OrderServer(orders: orders)
    let context = server.container.newBackgroundContext()
    try server.annotate(orders[0], with: Crowd.note, in: context)
    Heap.settle()
    // What the orders have left must not feed the devices either.
    Heap.giveBackPages()
    let before = try Memory()
    let (output, input) = (Pipe(), Pipe())
    let crowd = try Crowd.start(
      Self.devices, customers: Self.customers, port: server.web.port, output: output, input: input)
    try expect(output.fileHandleForReading.readData(ofLength: 1).count, is: 1, "the crowd is there")
    sleep(1)
    let watch = Stopwatch()
    let (start, processor) = (watch.now, Self.processorTime)
    var (highest, count) = (try Memory(), 0)
    while watch.now < start + Self.seconds * 1e9 {
      let due = start + Double(count) / Self.perSecond * 1e9
      if watch.now < due { usleep(UInt32(max(0, (due - watch.now) / 1e3))) }
      try server.annotate(orders[Int.random(in: 0..<orders.count)], with: Crowd.note, in: context)
      count += 1
      if count % 100 == 0 { highest.rise(to: try Memory()) }
    }
    let time = (watch.now - start) / 1e9
    self.processor = (Self.processorTime - processor) / 1e9 / time
    rate = Double(count) / time
    sleep(1)
    highest.rise(to: try Memory())
    inUse = Double(highest.inUse - before.inUse) / Double(Self.devices)
    resident = Double(highest.resident - before.resident) / Double(Self.devices)
    try input.fileHandleForWriting.close()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    crowd.waitUntilExit()
    report = try JSONDecoder().decode(Crowd.Report.self, from: data)
    try expect(rate > Self.perSecond * 0.95, "only \(rate) commits a second")
    // Each commit concerns two devices. Two commits may come in one page, and an order may change twice before.
    try expect(report.changes > count, "\(report.changes) changes of \(count) commits came to the devices")
  }

  /// The memory of this process.
  private struct Memory {
    private(set) var inUse = Heap.bytesInUse
    private(set) var resident: Int

    init() throws {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
      resident = (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1024
    }

    mutating func rise(to other: Memory) {
      (inUse, resident) = (max(inUse, other.inUse), max(resident, other.resident))
    }
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
