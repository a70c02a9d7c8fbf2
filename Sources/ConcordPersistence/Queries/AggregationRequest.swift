import Concord
import ConcordModel

/// An aggregation as a program has asked for it, with its plan.
struct AggregationRequest<T: PersistentEntity> {
  let plan: AggregationPlan<T>

  init<each Value: Sendable>(
    _ predicate: Predicate<T>?, _ model: Model, _ aggregations: repeat Aggregation<T, each Value>
  ) throws {
    try self.init(predicate, named: nil, model, repeat each aggregations)
  }

  init<Key: Hashable & Sendable, each Value: Sendable>(
    _ predicate: Predicate<T>?, by group: AggregationGroup<T, Key>, _ model: Model,
    _ aggregations: repeat Aggregation<T, each Value>
  ) throws {
    try self.init(predicate, named: (group.name, group.position), model, repeat each aggregations)
  }

  private init<each Value: Sendable>(
    _ predicate: Predicate<T>?, named group: (name: String, position: Int?)?, _ model: Model,
    _ aggregations: repeat Aggregation<T, each Value>
  ) throws {
    let entity = try model.entity(T.self)
    var parts: [AggregationPlan<T>.Part] = []
    for aggregation in repeat each aggregations { parts.append((aggregation.name, aggregation.measure(entity))) }
    plan = AggregationPlan(predicate, by: group, parts, entity, model)
  }

  /// The values of all entities.
  func result<each Value: Sendable>(
    _ loaded: AggregationPlan<T>.Loaded, _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> (repeat each Value) {
    switch loaded {
    case .measured(let groups): try values(.measured(groups.whole), repeat each aggregations)
    case .entities(let found): try values(.entities(plan.finish(found)), repeat each aggregations)
    }
  }

  /// The values of each group.
  func results<Key: Hashable & Sendable, each Value: Sendable>(
    _ loaded: AggregationPlan<T>.Loaded, by group: AggregationGroup<T, Key>,
    _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> [Key: (repeat each Value)] {
    // The setter of a dictionary's subscript does not take a pack.
    var results: [(Key, (repeat each Value))] = []
    switch loaded {
    case .measured(let groups):
      for (stored, measures) in groups.values {
        results.append((try group.key(stored), try values(.measured(measures), repeat each aggregations)))
      }
    case .entities(let found):
      for (key, entities) in Self.grouped(try plan.finish(found), group) {
        results.append((key, try values(.entities(entities), repeat each aggregations)))
      }
    }
    return Dictionary(results) { first, _ in first }
  }

  /// The entities of each group. NaN is not equal to itself, but a group.
  private static func grouped<Key>(_ entities: [T], _ group: AggregationGroup<T, Key>) -> [(key: Key, entities: [T])] {
    var places: [Key: Int] = [:]
    var strange: Int?
    var groups: [(key: Key, entities: [T])] = []
    for entity in entities {
      let key = group.read(entity)
      let place = key == key ? places[key] : strange
      if let place {
        groups[place].entities.append(entity)
      } else {
        if key == key { places[key] = groups.count } else { strange = groups.count }
        groups.append((key, [entity]))
      }
    }
    return groups
  }

  private func values<each Value: Sendable>(
    _ outcome: AggregationPlan<T>.Outcome, _ aggregations: repeat Aggregation<T, each Value>
  ) throws -> (repeat each Value) {
    var index = -1
    func value<V: Sendable>(_ aggregation: Aggregation<T, V>) throws -> V {
      index += 1
      switch outcome {
      case .measured(let measures): return try aggregation.result(measures[index], plan.entity)
      case .entities(let entities): return try aggregation.evaluate(entities, plan.entity)
      }
    }
    return (repeat try value(each aggregations))
  }
}
