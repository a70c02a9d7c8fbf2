#if Tool
  import Foundation

  /// Says on the terminal how far long work has come, on a line that it removes at the end. Steps are shown from the first half
  /// second on; nothing is where errors do not go to a terminal.
  struct ProgressLine {
    private let terminal = Terminal.error
    private let start = ContinuousClock.now
    private var latest: ContinuousClock.Instant?
    private var steps = 0
    private var isShown = false

    /// Counts a step; `text` is asked for about ten times a second.
    mutating func step(_ text: () -> String) {
      steps += 1
      guard terminal.isTerminal, steps % 256 == 1 else { return }
      show(text)
    }

    /// Says what begins, which shows no steps.
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

    private func put(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
  }

  /// `1,234,567`
  func grouped(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return (number < 0 ? "-" : "") + result
  }

  /// `12.3 MB`
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
