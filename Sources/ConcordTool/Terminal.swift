#if Tool
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A destination of output.
  struct Terminal {
    enum Style: String {
      case bold = "1"
      case dim = "2"
      case red = "31"
      case green = "32"
      case yellow = "33"
      case cyan = "36"
    }

    static let output = Terminal(descriptor: 1)
    static let error = Terminal(descriptor: 2)

    let descriptor: Int32
    /// Whether the destination is a terminal.
    let isTerminal: Bool
    let hasColours: Bool

    private init(descriptor: Int32) {
      self.descriptor = descriptor
      isTerminal = isatty(descriptor) == 1
      let environment = ProcessInfo.processInfo.environment
      hasColours = isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    func painted(_ text: String, _ style: Style) -> String {
      hasColours && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The number of characters in a line.
    var width: Int {
      var size = winsize()
      if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
      return ProcessInfo.processInfo.environment["COLUMNS"].flatMap(Int.init) ?? 80
    }
  }

  /// Returns a text without control characters and line breaks, since the content of a file is not trusted.
  func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnprintable) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case let scalar where isUnprintable(scalar):
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    // Characters that change the direction of the following text.
    case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    default: false
    }
  }

  /// Returns the number of columns that a terminal uses for a character.
  func columns(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if first.value < 0x300 { return 1 }
    if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return 2
    default:
      return first.properties.generalCategory == .nonspacingMark || first.properties.generalCategory == .format ? 0 : 1
    }
  }

  func columns(of text: String) -> Int { text.reduce(0) { $0 + columns(of: $1) } }
#endif
