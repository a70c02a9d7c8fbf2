import ConcordModel
import Foundation

/// The division of a fetch: the part that the store evaluates, and the part evaluated in memory.
struct FetchPlan<T: PersistentEntity> {
  let descriptor: FetchDescriptor<T>
  let entity: EntityDescription
  let model: Model
  /// The condition that the store evaluates. It may find more than the predicate does.
  private(set) var condition: StoredCondition
  /// Whether the condition finds exactly what the predicate does.
  private(set) var isExact: Bool
  /// The order that the store applies; `nil` if it cannot.
  private let order: [StoredOrder]?
  /// The positions by which the store orders correctly only if all values are numbers.
  private let realPositions: [Int]
  /// The search by whose rank the result is ordered, and by nothing else; `nil` if it is ordered otherwise.
  private(set) var rankedSearch: SearchQuery?

  init(_ descriptor: FetchDescriptor<T>, _ entity: EntityDescription, _ model: Model) {
    self.descriptor = descriptor
    self.entity = entity
    self.model = model
    if let predicate = descriptor.predicate {
      let found = PredicateTranslation(predicate, entity, model).condition(of: predicate)
      condition = found.condition
      isExact = found.rest.isEmpty
    } else {
      condition = .always(true)
      isExact = true
    }
    rankedSearch = descriptor.rankedSearch(condition)
    let orders = descriptor.sortBy.map { StoredOrder($0, entity) }
    order = orders.contains { $0 == nil } ? nil : orders.compactMap { $0 }
    realPositions = (order ?? []).compactMap { order in
      guard case .position(let position) = order.column, entity.columns[position].storageClass == .real else {
        return nil
      }
      return position
    }
  }

  /// Descriptions of the parts of the predicate that are evaluated in memory.
  ///
  /// They are not made for each fetch, since they may be long.
  var partsInMemory: [String] {
    guard !isExact, let predicate = descriptor.predicate else { return [] }
    return PredicateTranslation(predicate, entity, model).condition(of: predicate).rest.map { part in
      canDescribe(part) ? String(describing: part) : "\(type(of: part)) with a date that has no calendar"
    }
  }

  /// A plan of this fetch of which the store evaluates nothing.
  var inMemory: FetchPlan {
    var plan = self
    (plan.condition, plan.isExact, plan.rankedSearch) = (.always(true), false, nil)
    return plan
  }

  /// Without an order and a limit.
  var unordered: RowQuery { RowQuery(entity, where: condition) }

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

  /// The values that a store has found, and whether they are the whole result.
  typealias Found = (values: [T], isWhole: Bool)

  /// Loads the entities that the store finds for its part of the plan.
  ///
  /// - Parameter isLast: whether nothing is read afterwards, neither for the entities.
  func load(_ reading: any RowReading, _ loader: EntityLoader, isLast: Bool = false) throws -> Found {
    try entity.evaluating {
      let query = try wholeQuery(reading)
      if query == nil, let rankedQuery { return (try best(rankedQuery, reading, loader), true) }
      if isLast { reading.willReadOnce() }
      return (try loader.fetch(T.self, query ?? unordered), query != nil)
    }
  }

  /// Evaluates the rest of the fetch in memory. It runs outside of the reading, since a computed property is the user's
  /// code.
  ///
  /// - Parameter leaveOut: a closure that receives each entity for which the predicate has no answer, and which is left out, and the error;
  ///   that is thrown if there is none.
  func finish(_ found: Found, leaveOut: ((T, any Error) -> Void)? = nil) throws -> [T] {
    found.isWhole ? found.values : try finish(found.values, leaveOut)
  }

  private func finish(_ fetched: [T], _ leaveOut: ((T, any Error) -> Void)?) throws -> [T] {
    var found = fetched
    if !isExact, let predicate = descriptor.predicate.map(CheckedPredicate.init) {
      found = try found.filter { value in
        do { return try predicate.holds(value) } catch {
          guard let leaveOut else { throw error }
          leaveOut(value, error)
          return false
        }
      }
    }
    // Entities that compare equal keep the store's order.
    if !descriptor.sortBy.isEmpty {
      let order = TotalOrder(descriptor.sortBy)
      let ranked = found.enumerated().map { (offset: $0, element: $1, rank: order.rank?($1)) }
      found = ranked.sorted { a, b in
        if let first = a.rank, let second = b.rank, first != second { return first < second }
        return switch order.compare(a.element, b.element) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: a.offset < b.offset
        }
      }.map(\.element)
    }
    return Array(found.dropFirst(max(0, descriptor.fetchOffset ?? 0)).prefix(max(0, descriptor.fetchLimit ?? .max)))
  }
}

/// Whether a value can be described: Foundation traps on the description of a date that is not finite, or too far away.
private func canDescribe(_ value: Any, depth: Int = 0) -> Bool {
  if let date = value as? Date { return abs(date.timeIntervalSinceReferenceDate) < 1e15 }
  return depth > 100 || Mirror(reflecting: value).children.allSatisfy { canDescribe($0.value, depth: depth + 1) }
}

extension SortDescriptor {
  /// The collation of the texts that the descriptor orders; `nil` if it orders no texts.
  var collation: StoredCollation? {
    guard keyPath is KeyPath<Compared, String> || keyPath is KeyPath<Compared, String?> else { return nil }
    // A descriptor without a string comparator compares by `<`.
    guard let stringComparator else { return .lexical }
    let forward = String.StandardComparator(stringComparator, order: .forward)
    return forward == .lexical ? .lexical : .comparator(forward)
  }
}

extension StoredOrder {
  /// Creates the order of a store that equals a sort descriptor's; `nil` if there is none.
  init?<T: PersistentEntity>(_ descriptor: SortDescriptor<T>, _ entity: EntityDescription) {
    guard let keyPath = descriptor.keyPath, let position = entity.position(of: keyPath),
      entity.columns[position].role == .value
    else { return nil }
    let column = entity.columns[position]
    if column.comparison == .text {
      guard let collation = descriptor.collation else { return nil }
      self.init(.position(position), isAscending: descriptor.order == .forward, collation: collation)
      return
    }
    guard descriptor.stringComparator == nil, column.comparison == .order || column.isReal else { return nil }
    self.init(
      position == entity.idPosition && entity.isIDItsKey && column.comparison == .order ? .key : .position(position),
      isAscending: descriptor.order == .forward)
  }
}

extension ColumnDescription {
  /// Whether the column holds numbers with a fraction, or dates, as such.
  var isReal: Bool { storageClass == .real && comparison == .none && role == .value }
}
