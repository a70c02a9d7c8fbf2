import Foundation
import Testing

/// The migration guide, as it is published.
enum Guide {
  static let text: String = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appendingPathComponent("Sources/Concord/Concord.docc/MigratingFromCohesionKit.md")
    return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
  }()

  /// The lines of a part, without what comes after the next heading.
  private static func part(_ heading: String) -> [Substring] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(of: "## \(heading)") else { return [] }
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }.map { $0 }
  }

  /// The first two cells of each row of the table, or the first alone.
  static let rows: [String] = part("Call by call").filter { $0.hasPrefix("|") }.dropFirst(2).map { line in
    let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    return cells[0] == "–" ? "– \(cells[1])" : cells[0]
  }

  /// The first sentence of each difference.
  static let differences: [String] = part("What is different").filter { $0.hasPrefix("- ") }.map { line in
    String(line.dropFirst(2).prefix { $0 != "." && $0 != ":" && $0 != "," }).replacingOccurrences(of: "`", with: "")
  }
}

/// One line of the guide, and what it claims.
struct Claim: Sendable {
  let line: String
  let check: @Sendable () async throws -> Void

  init(_ line: String, _ check: @escaping @Sendable () async throws -> Void) {
    self.line = line
    self.check = check
  }
}
