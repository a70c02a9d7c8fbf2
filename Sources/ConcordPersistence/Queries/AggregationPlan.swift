import Concord
import ConcordModel

/// A value that the entities of a group have in common: a property, as a store and as memory read it.
struct AggregationGroup<T: PersistentEntity, Key: Hashable & Sendable>: Sendable {
  let name: String
  /// The position of the column; `nil` if a store cannot group by it.
  let position: Int?
  let read: @Sendable (T) -> Key
  /// Creates the value from its column.
  let key: @Sendable (StoredValue) throws -> Key

  init(_ property: any KeyPath<T, Key> & Sendable, _ entity: EntityDescription) {
    name = "\(property)"
    position = entity.groupPosition(of: property, Key.self)
    read = { $0[keyPath: property] }
    key = { try (Key.self as? any OptionalKey.Type)?.key(of: $0) as? Key ?? readValue($0, as: Key.self) }
  }
}

/// The division of an aggregation: whether the store computes it, or entities are read and it is computed in memory.
struct AggregationPlan<T: PersistentEntity> {
  /// A value that an aggregation asks for.
  typealias Part = (name: String, measure: RowMeasure?)

  /// A group's measures, or its entities.
  enum Outcome {
    case measured([MeasuredValue])
    case entities([T])
  }

  /// The rows, or the measures, that were read.
  enum Loaded {
    case measured(RowGroups)
    case entities(FetchPlan<T>.Found)
  }

  let entity: EntityDescription
  let fetch: FetchPlan<T>
  let parts: [Part]
  /// The property of the groups, if the store cannot group by it.
  let groupName: String?
  /// The aggregation that the store computes; `nil` if it cannot.
  let aggregation: RowAggregation?

  init(
    _ predicate: Predicate<T>?, by group: (name: String, position: Int?)?, _ parts: [Part], _ entity: EntityDescription,
    _ model: Model
  ) {
    self.entity = entity
    self.parts = parts
    fetch = FetchPlan(FetchDescriptor<T>(predicate: predicate), entity, model)
    groupName = group.flatMap { $0.position == nil ? $0.name : nil }
    let measures = parts.compactMap(\.measure)
    aggregation =
      fetch.isExact && groupName == nil && measures.count == parts.count
      ? RowAggregation(entity, where: fetch.condition, by: group?.position, measures) : nil
  }

  /// The entities that were found, all of which the predicate was evaluated for. It runs outside of the reading, since a computed property
  /// is the user's code.
  func finish(_ found: FetchPlan<T>.Found) throws -> [T] { try fetch.finish(found) }
}

// MARK: Keys of groups

extension EntityDescription {
  fileprivate func groupPosition<Key>(of property: AnyKeyPath, _ type: Key.Type) -> Int? {
    let wrapped = (type as? any OptionalKey.Type)?.wrappedKeyType ?? type
    func find<Wrapped>(_ type: Wrapped.Type) -> Int? {
      guard let position = position(of: property, asStoredBy: type) else { return nil }
      let column = columns[position]
      return column.comparison != .none || column.isReal && isRealNumber(type) ? position : nil
    }
    return find(wrapped)
  }
}

/// An optional, whose `nil` is a group of its own.
private protocol OptionalKey {
  static var wrappedKeyType: Any.Type { get }
  static func key(of stored: StoredValue) throws -> Self
}

extension Optional: OptionalKey {
  fileprivate static var wrappedKeyType: Any.Type { Wrapped.self }

  fileprivate static func key(of stored: StoredValue) throws -> Wrapped? {
    stored.isNull ? nil : try readValue(stored, as: Wrapped.self)
  }
}
