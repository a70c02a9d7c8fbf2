public import ConcordPersistence

/// A seat whose place no other one has.
public struct Seat: PersistentEntity, Equatable {
  public let id: Int
  public var place: Int?

  public static let persistentProperties: [PersistentProperty<Seat>] = [
    .init("id", \.id), .init("place", \.place, .unique),
  ]
  public init(id: Int, place: Int?) { (self.id, self.place) = (id, place) }
  public init(from row: inout RowReader) throws { self.init(id: try row.read(), place: try row.read()) }
  public func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(place)
  }
}

public func seatModel() throws -> Model { try Model("Seats", entities: [Seat.self]) }

/// Lets seats exchange their places, or hand them on, each time in one save that is repeated at a conflict.
public struct SeatExchange {
  private var random: SeededNumbers
  /// How often a save was refused.
  public private(set) var refusals = 0

  public init(seed: UInt64) { random = SeededNumbers(seed: seed) }

  public mutating func step(_ context: BackgroundContext) throws {
    context.mergePolicy = .error
    while true {
      do {
        let seats = try context.fetch(FetchDescriptor<Seat>()).shuffled(using: &random).prefix(
          .random(in: 2...3, using: &random))
        let places = seats.map(\.place)
        for (index, seat) in seats.enumerated() {
          let place = places[(index + 1) % places.count]
          if Bool.random(using: &random) {
            try context.update(Seat.self, id: seat.id) { $0.place = place }
          } else {
            // Away, and back with another place.
            try context.delete(Seat.self, id: seat.id)
            context.insert(Seat(id: seat.id, place: place))
          }
        }
        return try context.save()
      } catch let error as StoreError {
        switch error {
        case .conflict, .notUnique:
          refusals += 1
          context.rollback()
        default: throw error
        }
      }
    }
  }
}
