/// The scalars that normalization leaves alone wherever they stand: each is its own composed form, combines with none before it, and is
/// never moved. A text of these only is in Unicode's form NFC, so that its bytes are ordered as Swift orders strings.
///
/// The ranges are a subset, chosen to be few. They stand in the schema of files, so they must never change.
package enum PlainScalars {
  /// The ranges of plain scalars. Scalars before the tab, such as U+0000, are left out, so that an index can be
  /// described without control characters.
  package static let ranges: [ClosedRange<UInt32>] = [
    0x9...0x2FF, 0x391...0x3A1, 0x3A3...0x482, 0x48A...0x52F, 0x531...0x556, 0x561...0x587, 0x5D0...0x5EA,
    0x621...0x64A,
    0x660...0x66F, 0x671...0x6D5, 0x10D0...0x10FF, 0x1E00...0x1F15, 0x2002...0x2064, 0x20A0...0x20C0, 0x2100...0x2125,
    0x212C...0x218B, 0x2190...0x2328, 0x232B...0x2426, 0x2460...0x2ADB, 0x2ADD...0x2B73, 0x3001...0x3029,
    0x3041...0x3096, 0x309B...0x30FF, 0x3105...0x312F, 0x3131...0x318E, 0x3220...0xA48C, 0xAC00...0xD7A3,
    0xFE00...0xFE19, 0xFF01...0xFFBE, 0x1F000...0x1FAFF, 0x20000...0x2A6DF,
  ]

  package static func contains(_ scalar: UInt32) -> Bool {
    if scalar <= 0x2FF { return scalar >= 0x9 }
    var (low, high) = (1, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(scalar)
  }

  /// Whether a text consists of these.
  package static func makeUp(_ text: String) -> Bool { text.unicodeScalars.allSatisfy { contains($0.value) } }
}
