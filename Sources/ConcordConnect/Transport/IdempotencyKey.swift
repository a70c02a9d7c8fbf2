import Foundation

/// The key by which a web service recognises a request that it has received before: the header field `Idempotency-Key`.
public struct IdempotencyKey: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a random key: a UUID of version 4 (RFC 9562), in lower case.
  public init() {
    // On Linux `UUID()` opens a file of random bytes each time.
    var numbers = SystemRandomNumberGenerator()
    self.init(numbers.next())
  }

  private init(_ high: UInt64) {
    var numbers = SystemRandomNumberGenerator()
    let high: UInt64 = high & ~0xF000 | 0x4000
    let low: UInt64 = numbers.next() & ~(0b11 << 62) | 0b10 << 62
    func byte(_ number: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: number >> (56 - 8 * index)) }
    let uuid = UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5), byte(high, 6),
        byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6),
        byte(low, 7)
      ))
    rawValue = uuid.uuidString.lowercased()
  }

  // An action that takes another one back must not be sent if that is refused, whichever process finds out, and after a restart, too.
  // So the first half of its key follows from the key of the other one.

  /// Creates a random key for an action that takes back the one with a key.
  init(takingBack key: String) { self.init(Self.half(takingBack: key)) }

  /// The beginning of the keys of actions that take back the one with a key.
  static func prefix(takingBack key: String) -> String { String(Self(takingBack: key).rawValue.prefix(18)) }

  /// FNV-1a, with the last steps of SplitMix64.
  private static func half(takingBack key: String) -> UInt64 {
    var hash = key.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
    hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
    return hash ^ (hash >> 31)
  }

  public var description: String { rawValue }
}
