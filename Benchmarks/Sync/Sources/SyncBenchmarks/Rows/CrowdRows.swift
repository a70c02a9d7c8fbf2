import ConcordServer
import Foundation

extension Row {
  static var deviceMemory: Row {
    Row(
      "memory of the server for each of 2,000 connected devices", unit: .bytes, goal: .bytes(50_000),
      floor: "none: resident memory at its highest, less what it was without devices", repetitions: 1
    ) { _ in
      Sides { try CrowdRun.found.get().memory }
    }
  }

  static var deviceLag: Row {
    Row(
      "the latest of all changes on 2,000 devices, 200 commits a second", goal: .seconds(1),
      floor: "none: the longest time from a commit until the last device that it concerns has it", repetitions: 1
    ) { _ in
      Sides {
        let run = try CrowdRun.found.get()
        let format = Unit.nanoseconds.format
        let rate = run.rate.formatted(places: 0)
        print(
          "    \(run.report.changes) changes, \(rate) commits a second, median \(format(run.report.median, false)),",
          "99th percentile \(format(run.report.percentile99, false)); \(run.processor.formatted(places: 2)) cores")
        return run.report.longest
      }
    }
  }
}

/// One server over a file with 2,000 devices of 1,000 customers, and commits that concern two of them each.
private struct CrowdRun {
  /// The bytes for each device.
  let memory: Double
  let report: Crowd.Report
  /// The commits in a second.
  let rate: Double
  /// The processor time of the server in a second.
  let processor: Double

  static let found = Result { try CrowdRun() }

  private static let (devices, customers, seconds, perSecond) = (2_000, 1_000, 20.0, 200.0)

  private init() throws {
    let orders = (0..<10_000).map { Order(id: $0, customer: $0 % Self.customers) }
    let server = try OrderServer(orders: orders)
    let context = server.container.newBackgroundContext()
    try server.annotate(orders[0], with: Crowd.note, in: context)
    let before = try Self.residentMemory()
    let (output, input) = (Pipe(), Pipe())
    let crowd = try Crowd.start(
      Self.devices, customers: Self.customers, port: server.web.port, output: output, input: input)
    try expect(output.fileHandleForReading.readData(ofLength: 1).count, is: 1, "the crowd is there")
    sleep(1)
    let watch = Stopwatch()
    let (start, processor) = (watch.now, Self.processorTime)
    var (highest, count) = (try Self.residentMemory(), 0)
    while watch.now < start + Self.seconds * 1e9 {
      let due = start + Double(count) / Self.perSecond * 1e9
      if watch.now < due { usleep(UInt32(max(0, (due - watch.now) / 1e3))) }
      try server.annotate(orders[Int.random(in: 0..<orders.count)], with: Crowd.note, in: context)
      count += 1
      if count % 100 == 0 { highest = max(highest, try Self.residentMemory()) }
    }
    let time = (watch.now - start) / 1e9
    self.processor = (Self.processorTime - processor) / 1e9 / time
    rate = Double(count) / time
    sleep(1)
    memory = Double(max(highest, try Self.residentMemory()) - before) / Double(Self.devices)
    try input.fileHandleForWriting.close()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    crowd.waitUntilExit()
    report = try JSONDecoder().decode(Crowd.Report.self, from: data)
    try expect(rate > Self.perSecond * 0.95, "only \(rate) commits a second")
    // Each commit concerns two devices. Two commits may come in one page, and an order may change twice before.
    try expect(report.changes > count, "\(report.changes) changes of \(count) commits came to the devices")
  }

  private static func residentMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return (line.flatMap { Int($0.filter(\.isNumber)) } ?? 0) * 1024
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
