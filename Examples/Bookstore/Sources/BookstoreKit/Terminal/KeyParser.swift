/// Turns the bytes that a keyboard sends into keys. Arrows come as several bytes, which may arrive apart.
struct KeyParser {
  private enum State { case ground, escape, bracket }
  private var state = State.ground

  mutating func take(_ byte: UInt8) -> Key? {
    switch state {
    case .ground: return ground(byte)
    case .escape:
      state = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .bracket : .ground
      return nil
    case .bracket:
      // Parameters come before the byte that ends the sequence.
      guard (0x40...0x7E).contains(byte) else { return nil }
      state = .ground
      switch byte {
      case UInt8(ascii: "A"): return .up
      case UInt8(ascii: "B"): return .down
      case UInt8(ascii: "C"): return .next
      case UInt8(ascii: "D"), UInt8(ascii: "Z"): return .previous
      default: return nil
      }
    }
  }

  private mutating func ground(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x1B:
      state = .escape
      return nil
    case UInt8(ascii: "\t"), UInt8(ascii: "n"): return .next
    case UInt8(ascii: "N"), UInt8(ascii: "b"): return .previous
    case UInt8(ascii: "k"): return .up
    case UInt8(ascii: "j"): return .down
    case UInt8(ascii: "p"), UInt8(ascii: " "): return .pause
    case UInt8(ascii: "z"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .zoom
    case UInt8(ascii: "s"): return .sell
    case UInt8(ascii: "q"), UInt8(ascii: "Q"), 0x04: return .quit
    default: return nil
    }
  }
}
