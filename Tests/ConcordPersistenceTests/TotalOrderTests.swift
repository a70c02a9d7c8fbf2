import Concord
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("One order for fetches and live queries")
struct TotalOrderTests {
  /// NaN come after all numbers, `nil` before them; what is not told apart is in the order of the ids.
  private func precedes(_ a: Measure, _ b: Measure, by orders: [(Measure.Place, SortOrder)]) -> Bool {
    for (place, order) in orders {
      let (first, second) = (place.rank(a), place.rank(b))
      if first == second { continue }
      return first.lexicographicallyPrecedes(second) == (order == .forward)
    }
    return a.id < b.id
  }

  @Test(
    "Live queries and fetches put NaN, -0.0 and nil where the documentation says, over each type of store",
    arguments: StoreKind.allCases)
  func random(_ kind: StoreKind) throws {
    let seed = TestOptions.seed()
    var random = SeededGenerator(seed: seed)
    let model = try Model("Measures", entities: [Measure.self])
    for world in 0..<kind.share(of: TestOptions.isLong ? 60 : 6) {
      try kind.withCoordinator(model) { coordinator in
        let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
        var measures: [Int: Measure] = [:]
        var queries: [(FetchDescriptor<Measure>, [(Measure.Place, SortOrder)], EntityObserver<[Measure]>)] = []
        for step in 0..<30 {
          let comment: Comment = "CONCORD_RANDOM_SEED=\(seed): \(kind), world \(world), step \(step)"
          if queries.count < 6 {
            let orders = (0..<random.pick([1, 1, 2, 3])).map { _ in
              (random.pick(Measure.Place.allCases), random.pick([SortOrder.forward, .reverse]))
            }
            let descriptor = FetchDescriptor<Measure>(
              sortBy: orders.map { $0.descriptor($1) }, fetchLimit: random.pick([nil, 1, 3, 10]),
              fetchOffset: random.pick([nil, nil, 2]))
            queries.append((descriptor, orders, try view.query(descriptor)))
          } else {
            queries.remove(at: Int.random(in: queries.indices, using: &random))
          }
          let context = random.pick([true, false]) ? coordinator.newContext() : nil
          for _ in 0..<Int.random(in: 1...5, using: &random) {
            let measure = Measure(id: .random(in: 0..<25, using: &random), &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
              measures[measure.id] = nil
              _ = try context?.delete(Measure.self, id: measure.id) ?? view.delete(Measure.self, id: measure.id)
            } else {
              measures[measure.id] = measure
              if let context { context.insert(measure) } else { view.insert(measure) }
            }
          }
          if let context { try context.save() } else { try view.save() }
          coordinator.settle()
          for (descriptor, orders, live) in queries {
            let all = measures.values.sorted { precedes($0, $1, by: orders) }.map(\.id)
            let wanted = Array(all.dropFirst(descriptor.fetchOffset ?? 0).prefix(descriptor.fetchLimit ?? .max))
            #expect(try view.fetch(descriptor).map(\.id) == wanted, comment)
            #expect(live.value.map(\.id) == wanted, comment)
          }
        }
      }
    }
  }
}

/// With numbers that have a fraction.
private struct Measure: PersistentEntity {
  let id: Int
  var number: Double
  var optional: Double?
  var float: Float
  var date: Date
  var optionalDate: Date?

  static let persistentProperties: [PersistentProperty<Measure>] = [
    .init("id", \.id), .init("number", \.number), .init("optional", \.optional), .init("float", \.float),
    .init("date", \.date), .init("optionalDate", \.optionalDate),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    number = try row.read()
    optional = try row.read()
    float = try row.read()
    date = try row.read()
    optionalDate = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(number)
    try row.write(optional)
    try row.write(float)
    try row.write(date)
    try row.write(optionalDate)
  }

  init(id: Int, _ random: inout some RandomNumberGenerator) {
    self.id = id
    func number() -> Double {
      random.pick([.nan, -.nan, Double(nan: 7, signaling: false), 0, -0.0, 1, -1, .infinity, -.infinity])
    }
    (self.number, float) = (number(), Float(number()))
    optional = random.pick([nil, number()])
    date = Date(timeIntervalSinceReferenceDate: number())
    optionalDate = random.pick([nil, Date(timeIntervalSinceReferenceDate: number())])
  }

  /// The negative of what is computed, which no store knows.
  var opposite: Double? { optional.map { -$0 } }

  enum Place: CaseIterable {
    case number, optional, float, date, optionalDate, opposite

    func descriptor(_ order: SortOrder) -> SortDescriptor<Measure> {
      switch self {
      case .number: SortDescriptor(\.number, order: order)
      case .optional: SortDescriptor(\.optional, order: order)
      case .float: SortDescriptor(\.float, order: order)
      case .date: SortDescriptor(\.date, order: order)
      case .optionalDate: SortDescriptor(\.optionalDate, order: order)
      case .opposite: SortDescriptor(\.opposite, order: order)
      }
    }

    /// What is compared, number by number.
    func rank(_ measure: Measure) -> [Double] {
      let value: Double? =
        switch self {
        case .number: measure.number
        case .optional: measure.optional
        case .float: Double(measure.float)
        case .date: measure.date.timeIntervalSinceReferenceDate
        case .optionalDate: measure.optionalDate?.timeIntervalSinceReferenceDate
        case .opposite: measure.opposite
        }
      guard let value else { return [0] }
      return value.isNaN ? [2] : [1, value]
    }
  }
}

private struct Level: PersistentEntity, Equatable {
  let id: Int
  var value: Double

  static let persistentProperties: [PersistentProperty<Level>] = [.init("id", \.id), .init("value", \.value)]
  init(id: Int, value: Double) { (self.id, self.value) = (id, value) }
  init(from row: inout RowReader) throws { self.init(id: try row.read(), value: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(value)
  }
}

@Suite("Values that are equal and not the same")
struct EqualValuesTests {
  @Test("A list is not told that 0.0 has become -0.0, which is stored", arguments: StoreKind.allCases)
  func zeros(_ kind: StoreKind) throws {
    try kind.withCoordinator(Model("Levels", entities: [Level.self])) { coordinator in
      let context = coordinator.newContext()
      for id in 1...2 { context.insert(Level(id: id, value: 0)) }
      try context.save()
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record($0) }
      let list = try view.query(FetchDescriptor<Level>())
      let notices = Locked(0)
      let subscription = list.observe { _ in notices.withLock { $0 += 1 } }
      let first = notices.withLock { $0 }
      try context.update(Level.self, id: 1) { $0.value = -0.0 }
      try context.save()
      coordinator.settle()
      #expect(notices.withLock { $0 } == first)
      #expect(try context.find(Level.self, id: 1)?.value.sign == .minus)
      try context.update(Level.self, id: 2) { $0.value = 1 }
      try context.save()
      coordinator.settle()
      #expect(notices.withLock { $0 } == first + 1)
      #expect(list.value == [Level(id: 1, value: 0), Level(id: 2, value: 1)])
      subscription.unsubscribe()
    }
  }
}
