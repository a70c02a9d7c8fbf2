// What the staff's requests carry. They are no part of synchronisation: any program may send them.

/// Whether the shop refuses what customers do.
public struct Refusing: Codable, Sendable {
  public var isRefusing: Bool
  public init(isRefusing: Bool) { self.isRefusing = isRefusing }
}

/// By how much a price changes.
public struct PriceChange: Codable, Sendable {
  public var cents: Int
  public init(cents: Int) { self.cents = cents }
}
