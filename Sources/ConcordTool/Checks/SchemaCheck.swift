#if Tool
  import Foundation

  /// A check that each table has the columns that were recorded when it was made or last changed.
  enum SchemaCheck {
    static func run(_ table: FileTable, _ report: inout CheckReport) throws {
      let present = table.columns.map(\.declaration)
      // The order may differ.
      var missing = ", " + table.declared
      var added: [String] = []
      for declaration in present.sorted(by: { $0.utf8.count > $1.utf8.count }) {
        if let range = missing.range(of: ", " + declaration) {
          missing.removeSubrange(range)
        } else {
          added.append(declaration)
        }
      }
      if !missing.isEmpty { try report.problem("\(table.name) should have \(missing.dropFirst(2))") }
      if !added.isEmpty {
        try report.problem("\(table.name) has \(added.reversed().joined(separator: ", ")), which was not noted")
      }
    }
  }
#endif
