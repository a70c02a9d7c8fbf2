/// What a run of the program works on.
public struct Session: Sendable {
  public var shop: Shop
  /// Recorded events; without them events are invented.
  public var events: LineReader?
  /// What the events are called in messages.
  public var eventsName: String
  public var seed: UInt64
  /// How many lines to take, or all.
  public var count: Int?
  /// Events per second, or as fast as they come.
  public var rate: Double?
  /// Whether there is a fifth screen, which holds its objects itself.
  public var hasLegacy: Bool
  /// Whether each event that is in the file is told.
  public var acknowledges: Bool

  public init(
    shop: Shop, events: LineReader?, eventsName: String, seed: UInt64, count: Int?, rate: Double?, hasLegacy: Bool,
    acknowledges: Bool = false
  ) {
    self.shop = shop
    self.acknowledges = acknowledges
    self.events = events
    self.eventsName = eventsName
    self.seed = seed
    self.count = count
    self.rate = rate
    self.hasLegacy = hasLegacy
  }

  func feed(progress: FeedProgress, complaints: Complaints) throws -> Feed {
    let source: any EventSource =
      if let events {
        RecordedEvents(events)
      } else {
        GeneratedEvents(EventGenerator(catalogue: shop.catalogue, display: shop.display, seed: seed))
      }
    return Feed(
      source: source, shop: shop, progress: progress, ledger: try shop.ledger(), limit: count, rate: rate
    ) { line, problem in complaints.add(line: line, problem) }
  }
}
