import Foundation

extension QueryDemand {
  /// Finds what a predicate demands of a stored property; `nil` if that is nothing by which queries are found.
  init?(_ predicate: Predicate<T>) {
    var search = DemandSearch<T>(predicate.variable.key)
    search.visit(predicate.expression)
    guard let found = search.narrowest else { return nil }
    self = found
  }
}

/// A search through the conditions that all have to hold where a predicate does.
private struct DemandSearch<T> {
  private let variable: PredicateExpressions.VariableID
  private var value: QueryDemand<T>?
  private var truth: QueryDemand<T>?
  /// The intervals in which properties have to be, each property once.
  private var ranges: [Range] = []

  private struct Range {
    let property: PropertyPath
    var interval: ValueInterval<RangeKey>
    let key: (T) -> RangeKey?
    var words: [() -> String]
  }

  init(_ variable: PredicateExpressions.VariableID) { self.variable = variable }

  /// The demand that the fewest entities are likely to meet: for a value, for one between two bounds, for a truth value, for one on one side of
  /// a bound.
  var narrowest: QueryDemand<T>? {
    value ?? ranges.first { $0.interval.isBounded }.map(demand) ?? truth ?? ranges.first.map(demand)
  }

  private func demand(_ range: Range) -> QueryDemand<T> {
    QueryDemand(property: range.property, condition: .interval(range.interval, range.key)) {
      range.words.map { $0() }.joined(separator: " && ")
    }
  }

  /// - Parameter isNegated: whether the expression must not hold.
  mutating func visit(_ expression: any PredicateExpression, isNegated: Bool = false) {
    switch expression {
    case let parts as any PredicateParts:
      // Neither of two holds where it does not hold that one does.
      guard parts.areAlternatives == isNegated else { return }
      for part in parts.parts { visit(part, isNegated: isNegated) }
    case let negation as any PredicateNegation: visit(negation.negated, isNegated: !isNegated)
    case let equality as any PredicateEquality:
      let (a, b) = equality.sides
      addValue(a, b, isEqual: equality.areEqual != isNegated)
      addValue(b, a, isEqual: equality.areEqual != isNegated)
    // A negated comparison holds for what is not ordered, too.
    case let comparison as any PredicateComparison where !isNegated:
      let (a, relation, b) = comparison.sides
      addBound(a, relation, b)
      if let flipped = relation.flipped { addBound(b, flipped, a) }
    case let contains as any PredicateRangeTest where !isNegated: addRange(contains.test.element, contains.test.range)
    case let property as any PropertyExpression: addTruth(property, !isNegated)
    default: break
    }
  }

  // MARK: Values

  private mutating func addValue(
    _ property: any PredicateExpression, _ other: any PredicateExpression, isEqual: Bool
  ) {
    guard let property = property as? any PropertyExpression, let constant = constant(other) else { return }
    if isEqual {
      addValue(property, constant)
    } else if let constant = constant as? Bool {
      addTruth(property, !constant)
    }
  }

  private mutating func addTruth(_ property: some PropertyExpression, _ isTrue: Bool) {
    guard let property = property.property(of: variable, in: T.self) as? PredicateProperty<T, Bool> else { return }
    add(property, isTrue)
  }

  private mutating func addValue<P: PropertyExpression>(_ property: P, _ constant: Any) {
    guard let type = P.Output.self as? any Hashable.Type,
      let property = property.property(of: variable, in: T.self)
    else { return }
    func add<Value: Hashable>(_ type: Value.Type, _ search: inout Self) {
      guard let property = property as? PredicateProperty<T, Value>, let value = constant as? Value else { return }
      search.add(property, value)
    }
    add(type, &self)
  }

  private mutating func add<Value: Hashable>(_ property: PredicateProperty<T, Value>, _ value: Value) {
    // NaN equals nothing, and so no value of the index.
    guard value == value, isFoundByHash(value) else { return }
    let found = QueryDemand<T>(
      property: property.path, condition: .hash(canonical(value).hashValue) { canonical(property.read($0)).hashValue }
    ) { "\(property.path) == \(value)" }
    if Value.self is Bool.Type || Value.self is Bool?.Type {
      truth = truth ?? found
    } else {
      self.value = self.value ?? found
    }
  }

  // MARK: Ranges

  private mutating func addBound(
    _ property: any PredicateExpression, _ relation: PredicateExpressions.ComparisonOperator,
    _ other: any PredicateExpression
  ) {
    guard let property = property as? any PropertyExpression, let bound = constant(other),
      let key = (bound as? any RangeKeyed)?.rangeKey
    else { return }
    switch relation {
    case .lessThan: add(property, ValueInterval(upper: .init(key, isIncluded: false))) { "\($0) < \(bound)" }
    case .lessThanOrEqual: add(property, ValueInterval(upper: .init(key, isIncluded: true))) { "\($0) <= \(bound)" }
    case .greaterThan: add(property, ValueInterval(lower: .init(key, isIncluded: false))) { "\($0) > \(bound)" }
    case .greaterThanOrEqual: add(property, ValueInterval(lower: .init(key, isIncluded: true))) { "\($0) >= \(bound)" }
    @unknown default: break
    }
  }

  private mutating func addRange(_ property: any PredicateExpression, _ range: any PredicateExpression) {
    guard let property = property as? any PropertyExpression, let range = constant(range),
      let interval = (range as? any RangeOfKeys)?.interval
    else { return }
    add(property, interval) { "(\(range)).contains(\($0))" }
  }

  private mutating func add<P: PropertyExpression>(
    _ property: P, _ interval: ValueInterval<RangeKey>, _ words: @escaping (PropertyPath) -> String
  ) {
    guard let type = P.Output.self as? any RangeKeyed.Type,
      let property = property.property(of: variable, in: T.self)
    else { return }
    func add<Value: RangeKeyed>(_ type: Value.Type, _ search: inout Self) {
      guard let property = property as? PredicateProperty<T, Value> else { return }
      let path = property.path
      let position = search.ranges.firstIndex { $0.property == path } ?? search.ranges.count
      if position == search.ranges.count {
        search.ranges.append(
          Range(property: path, interval: ValueInterval(), key: { property.read($0).rangeKey }, words: []))
      }
      search.ranges[position].interval = search.ranges[position].interval.intersection(interval)
      search.ranges[position].words.append { words(path) }
    }
    add(type, &self)
  }
}
