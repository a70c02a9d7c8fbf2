/// Prints the rows one below the other as they are measured.
struct Table {
  private let nameWidth: Int
  private let wasWidth: Int
  private let goalWidth: Int

  init(rows: [Row]) {
    nameWidth = rows.map(\.name.count).max() ?? 0
    wasWidth = rows.compactMap(\.was?.count).max() ?? 3
    goalWidth = rows.map { $0.goal.description(in: $0.unit).count }.max() ?? 0
  }

  var header: String {
    let titles = line("work", "was", "Concord", "p90", "floor", "ratio", "goal", "holds")
    return titles + "\n" + String(repeating: "─", count: titles.count)
  }

  func line(for line: Report.Line) -> String {
    if let failure = line.failure {
      return self.line(line.name, line.was ?? "–", "failed", "", "", "", line.goal, "NO") + "\n    " + failure
    }
    return self.line(
      line.name, line.was ?? "–", line.concord.map { line.unit.format($0) } ?? "–",
      line.concordPercentile90.map { line.unit.format($0) } ?? "–",
      line.floor.map { line.unit.format($0) } ?? "–",
      line.ratio.map { $0.formatted(places: $0 < 10 ? 2 : $0 < 100 ? 1 : 0) } ?? "–", line.goal,
      line.holds.map { $0 ? "yes" : "NO" } ?? "–")
  }

  private func line(
    _ name: String, _ was: String, _ concord: String, _ p90: String, _ floor: String, _ ratio: String, _ goal: String,
    _ holds: String
  ) -> String {
    [
      name.padded(to: nameWidth), was.padded(to: wasWidth, left: true), concord.padded(to: 9, left: true),
      p90.padded(to: 9, left: true), floor.padded(to: 9, left: true), ratio.padded(to: 6, left: true),
      goal.padded(to: goalWidth), holds.padded(to: 5),
    ].joined(separator: "  ")
  }
}

extension String {
  fileprivate func padded(to width: Int, left: Bool = false) -> String {
    let padding = String(repeating: " ", count: max(0, width - count))
    return left ? padding + self : self + padding
  }
}
