import ConcordModel
import Foundation

/// How a fetch is done: what the store does, and what is left to do in memory.
struct FetchPlan<T: PersistentEntity> {
  let descriptor: FetchDescriptor<T>
  let entity: EntityDescription
  let model: Model
  /// What the store looks for. It may find more than the predicate does.
  let condition: StoredCondition
  /// Whether it finds no more.
  let isExact: Bool
  /// How the store is to order; `nil` if it cannot.
  private let order: [StoredOrder]?
  /// What the store orders by rightly only if all values there are numbers.
  private let realPositions: [Int]

  init(_ descriptor: FetchDescriptor<T>, _ entity: EntityDescription, _ model: Model) {
    self.descriptor = descriptor
    self.entity = entity
    self.model = model
    if let predicate = descriptor.predicate {
      let found = PredicateTranslation(predicate, entity, model).condition(of: predicate)
      condition = found.condition
      isExact = found.isExact
    } else {
      condition = .always(true)
      isExact = true
    }
    let orders = descriptor.sortBy.map { StoredOrder($0, entity) }
    order = orders.contains { $0 == nil } ? nil : orders.compactMap { $0 }
    realPositions = (order ?? []).compactMap { order in
      guard case .position(let position) = order.column, entity.columns[position].storageClass == .real else {
        return nil
      }
      return position
    }
  }

  /// Without an order and a limit.
  private var unordered: RowQuery { RowQuery(entity, where: condition) }

  /// With all that the descriptor says.
  func whole(_ order: [StoredOrder]) -> RowQuery {
    RowQuery(
      entity, where: condition, order: order, limit: descriptor.fetchLimit, offset: descriptor.fetchOffset ?? 0)
  }

  /// The order, if the store can tell it. NaN and -0.0 are no numbers to a store.
  private func storedOrder(_ reading: any RowReading) throws -> [StoredOrder]? {
    guard let order, isExact else { return nil }
    for position in realPositions {
      let other = StoredCondition.compares(.position(position), .greaterOrEqual, .blob(Data()))
      if try reading.count(RowQuery(entity, where: other, limit: 1)) > 0 { return nil }
    }
    return order
  }

  /// The query that gives the whole result; `nil` if there is something left to do in memory.
  func wholeQuery(_ reading: any RowReading) throws -> RowQuery? { try storedOrder(reading).map(whole) }

  /// What a store has found, and whether it is what was asked for.
  typealias Found = (values: [T], isWhole: Bool)

  /// What the store does.
  func load(_ reading: any RowReading, _ loader: EntityLoader) throws -> Found {
    let query = try wholeQuery(reading)
    return (try loader.fetch(T.self, query ?? unordered), query != nil)
  }

  /// What is left to do in memory. It runs outside of the reading, since a computed property is the user's.
  func finish(_ found: Found) throws -> [T] { found.isWhole ? found.values : try finish(found.values) }

  private func finish(_ fetched: [T]) throws -> [T] {
    var found = fetched
    if !isExact, let predicate = descriptor.predicate { found = try found.filter { try predicate.evaluate($0) } }
    // The order of the store is kept among those that are not told apart.
    if !descriptor.sortBy.isEmpty {
      found = found.enumerated().sorted { a, b in
        switch descriptor.sortBy.compare(a.element, b.element) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: a.offset < b.offset
        }
      }.map(\.element)
    }
    return Array(found.dropFirst(max(0, descriptor.fetchOffset ?? 0)).prefix(max(0, descriptor.fetchLimit ?? .max)))
  }
}

extension Sequence {
  /// The first that tells the two apart says.
  func compare<T>(_ a: T, _ b: T) -> ComparisonResult where Element == SortDescriptor<T> {
    for descriptor in self {
      let result = descriptor.compare(a, b)
      if result != .orderedSame { return result }
    }
    return .orderedSame
  }
}

extension StoredOrder {
  /// How a store orders as a sort descriptor does; `nil` if it cannot.
  init?<T: PersistentEntity>(_ descriptor: SortDescriptor<T>, _ entity: EntityDescription) {
    guard descriptor.stringComparator == nil, let keyPath = descriptor.keyPath,
      let position = entity.position(of: keyPath), entity.columns[position].role == .value
    else { return nil }
    let column = entity.columns[position]
    guard column.comparison == .order || column.isReal else { return nil }
    self.init(
      position == entity.idPosition && entity.isIDItsKey && column.comparison == .order ? .key : .position(position),
      isAscending: descriptor.order == .forward)
  }
}

extension ColumnDescription {
  /// Whether it holds numbers with a fraction, or dates, as such.
  var isReal: Bool { storageClass == .real && comparison == .none && role == .value }
}
