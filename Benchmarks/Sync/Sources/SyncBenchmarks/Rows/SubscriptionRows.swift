import ConcordServer
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Row {
  static var commitBesideSubscriptions: Row {
    Row(
      "commit beside 10,000 subscriptions that it does not concern", goal: .floor(times: 1.2),
      floor: "the same beside 10 of them: the processor time of the server, from the commit until it is looked at"
    ) { _ in
      let (many, few) = (try WaitingDevices(devices: 100, each: 100), try WaitingDevices(devices: 1, each: 10))
      return Sides {
        try many.commit(100)
      } floor: {
        try few.commit(100)
      }
    }
  }
}

/// Devices that wait in the process, each with subscriptions that differ in a parameter.
private final class WaitingDevices {
  private let server: OrderServer
  private let answers = Kept(0)
  private let context: BackgroundContext
  private var turn = 0

  init(devices: Int, each: Int) throws {
    var limits = SyncLimits()
    limits.wait = .seconds(3600)
    server = try OrderServer(orders: [Order(id: 1, customer: -1)], limits: limits)
    context = server.container.newBackgroundContext()
    for device in 0..<devices {
      let transport = server.service.transport(as: OrderServer.Customer(id: device))
      let customers = Array(device * each..<(device + 1) * each)
      Task.detached { [answers] in
        var device = LightDevice(name: "device-\(device)", publication: "orders of", customers: customers)
        while true {
          let request = TransportRequest("POST", "pages", body: Data(device.request(wait: 3600).utf8))
          let response = try await transport.send(request)
          try device.take(response.body)
          answers.withLock { $0 += 1 }
        }
      }
    }
    // Each has had its first page, and all that the first commit has woken wait again.
    while answers.withLock({ $0 }) < devices { usleep(10_000) }
    try commit()
    usleep(500_000)
  }

  private func commit() throws {
    turn += 1
    try server.annotate(Order(id: 1, customer: -1), with: "\(turn)", in: context)
  }

  /// - Returns: the processor time of a commit.
  func commit(_ count: Int) throws -> Double {
    let before = answers.withLock { $0 }
    let start = Self.processorTime
    for _ in 0..<count {
      try commit()
      // It is looked at by itself.
      usleep(2000)
    }
    let time = (Self.processorTime - start) / Double(count)
    try expect(answers.withLock { $0 }, is: before, "the answers of devices that nothing concerns")
    return time
  }

  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
