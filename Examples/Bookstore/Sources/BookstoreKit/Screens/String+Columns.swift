extension String {
  /// The text without control characters: a review must not be able to move the cursor.
  var printable: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? " " : $0 }))
  }

  /// How many columns of a terminal the text takes.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The text cut to at most `width` columns, with an ellipsis when something was cut off.
  func clipped(to width: Int) -> String {
    guard columns > width else { return self }
    guard width > 0 else { return "" }
    var text = ""
    var left = width - 1
    for character in self {
      left -= character.columns
      if left < 0 { break }
      text.append(character)
    }
    return text + "…"
  }

  func padded(to width: Int) -> String {
    let text = clipped(to: width)
    return text + String(repeating: " ", count: max(0, width - text.columns))
  }

  func rightAligned(in width: Int) -> String {
    let text = clipped(to: width)
    return String(repeating: " ", count: max(0, width - text.columns)) + text
  }
}

extension Character {
  /// 2 for the wide characters of East Asia and for emoji, otherwise 1.
  fileprivate var columns: Int {
    guard let first = unicodeScalars.first else { return 0 }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    // Marks that turn the direction of what follows.
    case .format: (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
    default: false
    }
  }
}
