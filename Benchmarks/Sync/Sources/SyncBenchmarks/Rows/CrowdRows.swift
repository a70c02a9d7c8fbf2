import ConcordServer
import Foundation

extension Row {
  static var deviceMemory: Row {
    Row(
      "memory of the server for each of 2,000 connected devices", unit: .bytes, goal: .bytes(50_000),
      floor:
        "none: bytes in use or resident memory, whichever grows more, at their highest, less what they were without devices",
      repetitions: 1
    ) { _ in
      Sides {
        let run = try CrowdRun.found.get()
        let format = Unit.bytes.format
        print("    \(format(run.inUse, false)) in use, \(format(run.resident, false)) resident; a process of its own")
        return max(run.inUse, run.resident)
      }
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
