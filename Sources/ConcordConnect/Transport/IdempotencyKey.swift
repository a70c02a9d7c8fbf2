import Foundation

/// The key by which a web service recognises a request that it has received before: the header field `Idempotency-Key`.
public struct IdempotencyKey: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a random key: a UUID of version 4 (RFC 9562), in lower case.
  public init() {
    // On Linux `UUID()` opens a file of random bytes each time.
    var numbers = SystemRandomNumberGenerator()
    let high: UInt64 = numbers.next() & ~0xF000 | 0x4000
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

  public var description: String { rawValue }
}
