extension StoredValue {
  /// The order of SQLite: `null`, then numbers, then text by its bytes, then blobs by theirs.
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

  /// Whether a whole number is less than another number, without rounding it.
  private static func precedes(_ integer: Int64, _ real: Double) -> Bool {
    if real >= 0x1p63 { return true }
    if real < -0x1p63 { return false }
    let whole = Int64(real.rounded(.towardZero))
    return integer == whole ? Double(whole) < real : integer < whole
  }
}

extension [StoredValue] {
  /// The order of rows: by the first value in which they differ.
  package func precedes(_ other: [StoredValue]) -> Bool { lexicographicallyPrecedes(other, by: StoredValue.precedes) }
}
