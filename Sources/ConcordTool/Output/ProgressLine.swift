#if Tool
  import Foundation

  /// A line on the terminal with the progress of long work, which is removed at the end. Steps are shown after half a second.
  /// Nothing is shown if errors do not go to a terminal.
  struct ProgressLine {
    private let terminal = Terminal.error
    private let start = ContinuousClock.now
    private var latest: ContinuousClock.Instant?
    private var steps = 0
    private var isShown = false

    /// Counts a step. `text` is called about ten times a second.
    mutating func step(_ text: () -> String) {
      steps += 1
      guard terminal.isTerminal, steps % 256 == 1 else { return }
      show(text)
    }

    /// Shows a text for work without steps.
    mutating func begin(_ text: String) {
      steps = 0
      if terminal.isTerminal { put(shown: text) }
    }

    private mutating func show(_ text: () -> String) {
      let now = ContinuousClock.now
      guard now - start > .milliseconds(500), latest.map({ now - $0 > .milliseconds(100) }) ?? true else { return }
      latest = now
      put(shown: text())
    }

    private mutating func put(shown text: String) {
      isShown = true
      put("\r\u{1B}[K\(terminal.painted(String(printable(text).prefix(max(20, terminal.width - 1))), .dim))")
    }

    mutating func end() {
      if isShown { put("\r\u{1B}[K") }
      isShown = false
    }

    private func put(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
  }

  /// Returns a number with separators: `1,234,567`.
  func grouped(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return (number < 0 ? "-" : "") + result
  }

  /// Returns a number of bytes in a readable unit: `12.3 MB`.
  func size(_ bytes: Int64) -> String {
    var value = Double(bytes)
    for unit in ["bytes", "kB", "MB", "GB"] {
      if value < 1000 { return unit == "bytes" ? "\(bytes) bytes" : "\(tenths(value)) \(unit)" }
      value /= 1000
    }
    return "\(tenths(value)) TB"
  }

  private func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(grouped(tenths / 10)).\(tenths % 10)"
  }
#endif
