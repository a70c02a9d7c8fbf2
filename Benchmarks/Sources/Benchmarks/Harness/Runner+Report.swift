import Foundation

extension Runner {
  /// Measures rows, and prints each when it is measured.
  func report(on rows: [Row]) -> Report {
    var report = Report(date: Date(), machine: .current(clock: stopwatch.kind))
    let machine = report.machine
    print(
      "\(machine.processor.map { $0 + ", " } ?? "")\(machine.architecture), \(machine.cores) cores, \(machine.system)")
    print("a step: \(Unit.nanoseconds.format(machine.step)) (above 100 ns, goals that are times are longer;")
    print("below it, those that are parts of another system's time are shorter)")
    #if DEBUG
      print("Built for debugging: the figures mean nothing. Build with -c release.")
    #endif
    Heap.keepPages()
    let table = Table(rows: rows)
    print(table.header)
    for row in rows {
      // Each line is seen when it is measured, also in a pipe.
      fflush(nil)
      let line: Report.Line
      do {
        line = Report.Line(row, try measure(row), step: machine.step)
      } catch {
        line = Report.Line(row, failure: error)
      }
      print(table.line(for: line))
      report.rows.append(line)
    }
    let judged = report.rows.compactMap(\.holds)
    print("\(judged.count { $0 }) of \(judged.count) goals hold.")
    return report
  }
}
