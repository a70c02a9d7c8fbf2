#if Tool
  import ConcordModel
  import ConcordPersistence

  /// A writer of rows: in columns on a terminal, with tabs between the values elsewhere.
  struct TableWriter {
    private var output = Output()
    private let names: [String]
    private let terminal = Terminal.output
    /// The first rows, which determine the widths of the columns.
    private var first: [[Cell]] = []
    private var widths: [Int]?

    init(_ names: [String]) { self.names = names }

    mutating func row(_ cells: [Cell]) throws {
      if !terminal.isTerminal {
        if widths == nil { try begin() }
        try output.line(cells.map { $0.isNull ? "" : separated($0.description) }.joined(separator: "\t"))
      } else if widths == nil {
        first.append(cells)
        if first.count == 200 { try begin() }
      } else {
        try put(cells)
      }
    }

    mutating func end() throws {
      if widths == nil { try begin() }
      try output.flush()
    }

    private mutating func begin() throws {
      guard terminal.isTerminal else {
        widths = []
        try output.line(names.map(separated).joined(separator: "\t"))
        return
      }
      let widths = fit(
        names.indices.map { index in
          first.reduce(columns(of: printable(names[index]))) { max($0, columns(of: shown($1[index]))) }
        })
      self.widths = widths
      let head = names.indices.map { padded(printable(names[$0]), widths[$0], isNumber: false) }
      try output.line(terminal.painted(trimmed(head.joined(separator: "  ")), .bold))
      for cells in first { try put(cells) }
      first = []
    }

    private mutating func put(_ cells: [Cell]) throws {
      guard let widths else { return }
      let parts = cells.indices.map { index in
        let text = padded(shown(cells[index]), widths[index], isNumber: cells[index].isNumber)
        return cells[index].isNull ? terminal.painted(text, .dim) : text
      }
      try output.line(trimmed(parts.joined(separator: "  ")))
    }

    private func trimmed(_ text: String) -> String {
      var text = Substring(text)
      while text.last == " " { text.removeLast() }
      return String(text)
    }

    private func shown(_ cell: Cell) -> String { cell.isNull ? "–" : printable(cell.description) }

    /// Returns a text for output between tabs, in which characters that would end a value are escaped by a backslash.
    private func separated(_ text: String) -> String { printable(text.doubling(UInt8(ascii: "\\"))) }

    /// Returns the widths of the columns, of which the widest are reduced until all fit.
    private func fit(_ natural: [Int]) -> [Int] {
      var widths = natural
      let room = max(terminal.width - 2 * (widths.count - 1), 4 * widths.count)
      while widths.reduce(0, +) > room, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
        widths[widest] > 4
      {
        let others = widths.indices.filter { $0 != widest }.map { widths[$0] }
        let excess = widths.reduce(0, +) - room
        widths[widest] -= max(1, min(excess, widths[widest] - max(4, others.max() ?? 4)))
      }
      return widths
    }

    private func padded(_ text: String, _ width: Int, isNumber: Bool) -> String {
      let natural = columns(of: text)
      if natural <= width {
        let space = String(repeating: " ", count: width - natural)
        return isNumber ? space + text : text + space
      }
      var result = ""
      var used = 0
      for character in text {
        let next = columns(of: character)
        if used + next > width - 1 { break }
        result.append(character)
        used += next
      }
      return result + "…" + String(repeating: " ", count: width - 1 - used)
    }
  }
#endif
