/// Draws on the terminal, and only the lines that differ from what is there.
@MainActor
final class TerminalCanvas: Canvas {
  private let terminal: Terminal
  private var drawn: [String] = []
  private var drawnColumns = 0

  init(_ terminal: Terminal) { self.terminal = terminal }

  var size: (columns: Int, rows: Int) { terminal.size }

  /// Draws everything anew next time: somebody else has written on the terminal.
  func forget() { drawn = [] }

  func show(_ lines: [Line]) {
    let columns = lines.first?.width ?? 0
    if columns != drawnColumns || lines.count != drawn.count { drawn = [] }
    let isNew = drawn.isEmpty
    let texts = lines.map { $0.ansi(colours: terminal.colours) }
    var output = isNew ? "\u{1B}[0m\u{1B}[2J" : ""
    for (row, text) in texts.enumerated() where isNew || drawn[row] != text {
      output += "\u{1B}[\(row + 1);1H\(text)"
    }
    drawn = texts
    drawnColumns = columns
    guard !output.isEmpty else { return }
    // Terminals that know it show the lines together ("synchronized output"); others ignore it.
    terminal.write("\u{1B}[?2026h\(output)\u{1B}[?2026l")
  }
}
