extension StoredValue {
  /// Whether a value comes before another in the order of SQLite: `null`, numbers, text by its bytes, blobs by their bytes.
  package static func precedes(_ a: StoredValue, _ b: StoredValue) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a < b
    case (.real(let a), .real(let b)): a < b
    case (.integer(let a), .real(let b)): precedes(a, b)
    case (.real(let a), .integer(let b)): !precedes(b, a) && Int64(exactly: a) != b
    case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.blob(let a), .blob(let b)): a.lexicographicallyPrecedes(b)
    default: a.rank < b.rank
    }
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .integer, .real: 1
    case .text: 2
    case .blob: 3
    }
  }

  /// Whether an integer is less than another number, without rounding the integer.
  private static func precedes(_ integer: Int64, _ real: Double) -> Bool {
    if real >= 0x1p63 { return true }
    if real < -0x1p63 { return false }
    let whole = Int64(real.rounded(.towardZero))
    return integer == whole ? Double(whole) < real : integer < whole
  }
}

extension [StoredValue] {
  /// Whether a row comes before another, by the first value in which they differ.
  package func precedes(_ other: [StoredValue]) -> Bool { lexicographicallyPrecedes(other, by: StoredValue.precedes) }
}
