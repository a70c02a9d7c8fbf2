import ConcordModel
import Foundation

/// A part of a predicate that has a value which a store computes.
struct PredicateOperand {
  /// A rule by which values are compared.
  enum Kind: Equatable {
    case text, truth, date
    case number(StoredNumber)
    /// A comparison of the stored forms.
    case stored(StoredComparison)
    /// The key of an entity of a type, as its id is compared.
    case key(EntityDescription)
  }

  var expression: StoredExpression
  let kind: Kind
  /// The type of the value, without its optional.
  let type: Any.Type
  /// Stores a value that it is compared with.
  let encode: (Any) throws -> StoredValue?

  /// Whether the operand is the value of a column, which is `null` where there is no row.
  var isColumn: Bool {
    func isColumn(_ expression: StoredExpression) -> Bool {
      switch expression {
      case .column: true
      case .reference(_, _, let expression), .outer(let expression): isColumn(expression)
      default: false
      }
    }
    return isColumn(expression)
  }

  init(
    _ expression: StoredExpression, _ kind: Kind, _ type: Any.Type,
    encode: @escaping (Any) throws -> StoredValue? = { try ($0 as? any PersistentValue)?.storedValue }
  ) {
    self.expression = expression
    self.kind = kind
    self.type = type
    self.encode = encode
  }

  /// A value of a type that is always stored in one way; `nil` for other types.
  init?(_ expression: StoredExpression, natural type: Any.Type) {
    let type = (type as? any OptionalType.Type)?.wrappedType ?? type
    guard let kind = Self.kinds[ObjectIdentifier(type)] else { return nil }
    self.init(expression, kind, type)
  }

  /// Returns the operand with another expression.
  func with(_ expression: StoredExpression) -> PredicateOperand {
    var operand = self
    operand.expression = expression
    return operand
  }

  private static let kinds: [ObjectIdentifier: Kind] = [
    ObjectIdentifier(String.self): .text, ObjectIdentifier(Bool.self): .truth, ObjectIdentifier(Date.self): .date,
    ObjectIdentifier(Int.self): .number(.int64), ObjectIdentifier(Int64.self): .number(.int64),
    ObjectIdentifier(Int32.self): .number(.int32), ObjectIdentifier(Int16.self): .number(.int16),
    ObjectIdentifier(Int8.self): .number(.int8), ObjectIdentifier(UInt8.self): .number(.uint8),
    ObjectIdentifier(UInt16.self): .number(.uint16), ObjectIdentifier(UInt32.self): .number(.uint32),
    ObjectIdentifier(Double.self): .number(.double), ObjectIdentifier(Float.self): .number(.float),
    ObjectIdentifier(UUID.self): .stored(.equality), ObjectIdentifier(Data.self): .stored(.equality),
    ObjectIdentifier(Decimal.self): .stored(.equality),
  ]
}

extension StoredNumber {
  /// Whether its values have a fraction.
  var isReal: Bool { self == .float || self == .double }
}

/// An entity that a predicate leads to.
struct PredicatePlace {
  /// The nesting depth of its row below the outermost one.
  let depth: Int
  /// The references that lead from there to the entity.
  var path: [(position: Int, target: EntityDescription)] = []
  var entity: EntityDescription
}

private protocol OptionalType { static var wrappedType: Any.Type { get } }
extension Optional: OptionalType { fileprivate static var wrappedType: Any.Type { Wrapped.self } }

// MARK: Operands

extension PredicateTranslation {
  /// The binding of a variable of a predicate.
  enum Binding {
    case place(PredicatePlace)
    case operand(PredicateOperand)
  }

  /// Returns the operand for an expression whose value a store can compute; `nil` for any other.
  func operand(_ expression: any PredicateExpression) -> PredicateOperand? {
    if let operand = (expression as? any OperandExpression)?.operand(self) { return operand }
    guard isCondition(expression), let condition = condition(of: expression, isOperand: true) else { return nil }
    return PredicateOperand(.truth(condition), natural: Bool.self)
  }

  private func isCondition(_ expression: any PredicateExpression) -> Bool {
    func type<E: PredicateExpression>(_ expression: E) -> Any.Type { E.Output.self }
    return type(expression) == Bool.self
  }

  /// Returns two operands that can be compared. If one is a constant, it has the other one's coding.
  private func pair(
    _ a: any PredicateExpression, _ b: any PredicateExpression
  ) -> (PredicateOperand, PredicateOperand)? {
    // Each at most once: a chain of calculations would otherwise take twice as long with each further one.
    lazy var first = operand(a)
    lazy var second = operand(b)
    if let value = constant(b), let first, let second = self.value(value, like: first) { return (first, second) }
    if let value = constant(a), let second, let first = self.value(value, like: second) { return (first, second) }
    guard let first, let second, first.kind == second.kind, first.type == second.type else { return nil }
    return (first, second)
  }

  fileprivate func value(_ constant: Constant, like operand: PredicateOperand) -> PredicateOperand? {
    if isNil(constant.value) { return operand.with(.value(.null)) }
    guard let stored = try? operand.encode(constant.value), !stored.isNull else { return nil }
    return operand.with(.value(stored))
  }

  /// Whether two parts are equal.
  func equalOperands(_ a: any PredicateExpression, _ b: any PredicateExpression) -> StoredCondition? {
    guard let (a, b) = pair(a, b) else { return nil }
    return equal(a, b)
  }

  private func equal(_ a: PredicateOperand, _ b: PredicateOperand) -> StoredCondition? {
    switch a.kind {
    case .text: .relates(a.expression, .sameText, b.expression)
    case .truth, .key: .relates(a.expression, .same, b.expression)
    case .stored(let comparison):
      comparison == .equality || comparison == .order ? .relates(a.expression, .same, b.expression) : nil
    case .date: .relates(a.expression, .sameNumber, b.expression)
    case .number(let type): .relates(a.expression, type.isReal ? .sameNumber : .same, b.expression)
    }
  }

  /// Returns the operands of a comparison by order.
  func orderedOperands(
    _ a: any PredicateExpression, _ comparison: StoredComparisonOperator, _ b: any PredicateExpression
  ) -> StoredCondition? {
    pair(a, b).flatMap { ordered($0, comparison, $1) }
  }

  /// Returns the comparison of an operand with a value by order.
  func orderedOperand(
    _ a: PredicateOperand, _ comparison: StoredComparisonOperator, _ b: Constant
  ) -> StoredCondition? {
    value(b, like: a).flatMap { ordered(a, comparison, $0) }
  }

  private func ordered(
    _ a: PredicateOperand, _ comparison: StoredComparisonOperator, _ b: PredicateOperand
  ) -> StoredCondition? {
    if a.expression == .value(.null) || b.expression == .value(.null) { return nil }
    switch a.kind {
    case .text: return .relates(a.expression, .text(comparison), b.expression)
    case .number(let type):
      return .relates(a.expression, type.isReal ? .number(comparison) : .ordered(comparison), b.expression)
    case .date:
      // Of dates Foundation knows only `<` and `>`.
      switch comparison {
      case .less, .greater: return .relates(a.expression, .number(comparison), b.expression)
      case .lessOrEqual: return .not(.relates(a.expression, .number(.greater), b.expression))
      case .greaterOrEqual: return .not(.relates(a.expression, .number(.less), b.expression))
      }
    case .stored(.order): return .relates(a.expression, .ordered(comparison), b.expression)
    default: return nil
    }
  }

  /// Returns the operands of a relation between two texts.
  fileprivate func texts(
    _ a: any PredicateExpression, _ relation: StoredRelation, _ b: any PredicateExpression
  ) -> StoredCondition? {
    guard let (a, b) = pair(a, b), a.kind == .text else { return nil }
    return .relates(a.expression, relation, b.expression)
  }

  /// One of some values.
  func isIn(_ values: [Any], _ element: any PredicateExpression) -> StoredCondition? {
    guard values.count <= 200, let operand = operand(element) else { return nil }
    var conditions: [StoredCondition] = []
    for value in values {
      guard let value = self.value(Constant(value: value), like: operand), let condition = equal(operand, value) else {
        return nil
      }
      conditions.append(condition)
    }
    return .any(conditions)
  }

  // MARK: Entities and their properties

  /// Returns the entity that an expression stands for; `nil` if it stands for none.
  func place(_ expression: any PredicateExpression) -> PredicatePlace? {
    if let variable = expression as? any VariableExpression {
      guard case .place(let place) = binding(of: variable.variableID) else { return nil }
      return place
    }
    guard let keyPath = expression as? any KeyPathExpression, let place = place(keyPath.rootExpression) else {
      return nil
    }
    return self.place(keyPath.anyKeyPath, of: place)
  }

  private func place(_ keyPath: AnyKeyPath, of place: PredicatePlace) -> PredicatePlace? {
    // Inside of another entity one of a recursive type may be brief: relations are left out there.
    let isInside = place.depth > 0 || !place.path.isEmpty
    guard !isInside || !model.isRecursive(place.entity), let position = place.entity.position(of: keyPath),
      place.entity.columns[position].role == .reference,
      let target = place.entity.columns[position].target.flatMap(model.entity(named:))
    else { return nil }
    var place = place
    place.path.append((position, target))
    place.entity = target
    return place
  }

  /// An expression of an entity's row, from the row that is looked at.
  func expression(_ expression: StoredExpression, at place: PredicatePlace) -> StoredExpression {
    var found = expression
    for step in place.path.reversed() { found = .reference(step.position, step.target, found) }
    for _ in 0..<(depth - place.depth) { found = .outer(found) }
    return found
  }

  /// Returns an expression for the key of an entity; `null` where there is none.
  func key(at place: PredicatePlace) -> StoredExpression {
    guard let last = place.path.last else { return expression(.column(.key), at: place) }
    var owner = place
    owner.path.removeLast()
    return expression(.column(.position(last.position)), at: owner)
  }

  fileprivate func property(_ keyPath: AnyKeyPath, of place: PredicatePlace, _ type: Any.Type) -> PredicateOperand? {
    guard let position = place.entity.position(of: keyPath) else { return nil }
    let column = place.entity.columns[position]
    let stored = expression(.column(.position(position)), at: place)
    guard column.role == .value else { return nil }
    if position == place.entity.idPosition, column.comparison != .text, place.entity.isIDItsKey {
      return PredicateOperand(key(at: place), natural: type)
    }
    let natural = PredicateOperand(stored, natural: type)
    switch natural?.kind {
    case .text: return column.comparison == .text ? natural : nil
    case .date: return column.isReal ? natural : nil
    case .number(let number):
      return (number.isReal ? column.isReal : column.comparison == .order) ? natural : nil
    case .truth, .stored: return column.comparison != .none ? natural : nil
    case .key, nil: break
    }
    let wrapped = (type as? any OptionalType.Type)?.wrappedType ?? type
    guard column.comparison == .equality || column.comparison == .order else { return nil }
    let entity = place.entity
    return PredicateOperand(stored, .stored(column.comparison), wrapped) { value in
      try entity.encode(value, forColumnAt: position)
    }
  }

  /// Returns the operand for the number of entities in a collection, or for its emptiness.
  fileprivate func size(_ keyPath: AnyKeyPath, of collection: any KeyPathExpression) -> PredicateOperand? {
    guard let place = place(collection.rootExpression), place.path.isEmpty || !model.isRecursive(place.entity),
      place.depth == 0 || !model.isRecursive(place.entity),
      let position = place.entity.position(of: collection.anyKeyPath), place.entity.columns[position].role == .count,
      !place.entity.columns[position].isOptional,
      let target = place.entity.target(ofCountAt: position).flatMap(model.entity(named:))
    else { return nil }
    let count = expression(.column(.position(position)), at: place)
    let paths = sizePaths(target.type)
    if paths.counts.contains(keyPath) { return PredicateOperand(count, natural: Int.self) }
    guard paths.areEmpty.contains(keyPath) else { return nil }
    return PredicateOperand(.truth(.relates(count, .same, .value(.integer(0)))), natural: Bool.self)
  }

  private func sizePaths<T: PersistentEntity>(_ type: T.Type) -> (counts: [AnyKeyPath], areEmpty: [AnyKeyPath]) {
    func ofSets<H: Hashable>(_ type: H.Type) -> [AnyKeyPath] { [\Set<H>.count, \Set<H>.isEmpty] }
    let sets = (type as? any Hashable.Type).map { ofSets($0) }
    return ([\[T].count] + (sets.map { [$0[0]] } ?? []), [\[T].isEmpty] + (sets.map { [$0[1]] } ?? []))
  }

  /// Whether an element of a collection fulfils a condition.
  fileprivate func hasElement(
    of sequence: any PredicateExpression, _ variable: PredicateExpressions.VariableID, isNegated: Bool,
    _ test: any PredicateExpression
  ) -> StoredCondition? {
    guard let collection = sequence as? any KeyPathExpression, let place = place(collection.rootExpression),
      place.path.isEmpty, place.depth == depth, depth == 0 || !model.isRecursive(place.entity),
      let position = place.entity.position(of: collection.anyKeyPath),
      place.entity.columns[position].role == .count, !place.entity.columns[position].isOptional,
      let index = place.entity.countPositions.firstIndex(of: position),
      place.entity.collections[index].key == nil,
      let target = place.entity.target(ofCountAt: position).flatMap(model.entity(named:)),
      let condition = inside(variable, target).condition(of: test)
    else { return nil }
    return .hasElement(index, target, isNegated ? .not(condition) : condition)
  }
}

extension EntityDescription {
  /// The name of the type of the entities in the collection whose count is at a position; `nil` for wrappers.
  fileprivate func target(ofCountAt position: Int) -> String? {
    guard let index = countPositions.firstIndex(of: position), collections[index].elements.count == 1 else {
      return nil
    }
    return collections[index].elements[0].target
  }
}

// MARK: The expressions that have a value

private protocol OperandExpression {
  func operand(_ translation: PredicateTranslation) -> PredicateOperand?
}

extension PredicateExpressions.Variable: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    guard case .operand(let operand) = translation.binding(of: key) else { return nil }
    return operand
  }
}

extension PredicateExpressions.KeyPath: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    if let place = translation.place(root) {
      return translation.property(keyPath, of: place, Output.self)
        ?? translation.id(keyPath, of: place)
    }
    if let collection = root as? any KeyPathExpression, let size = translation.size(keyPath, of: collection) {
      return size
    }
    guard keyPath == \String.count || keyPath == \String.isEmpty, let text = translation.operand(root) else {
      return nil
    }
    if keyPath == \String.count { return PredicateOperand(.characterCount(text.expression), natural: Int.self) }
    return PredicateOperand(.truth(.relates(text.expression, .same, .value(.text("")))), natural: Bool.self)
  }
}

extension PredicateTranslation {
  /// Returns the operand for the id of a referenced entity, which is in the referring row.
  fileprivate func id(_ keyPath: AnyKeyPath, of place: PredicatePlace) -> PredicateOperand? {
    guard !place.path.isEmpty || place.depth > 0, let position = place.entity.idPosition,
      place.entity.position(of: keyPath) == position
    else { return nil }
    func operand<T: PersistentEntity>(_ type: T.Type) -> PredicateOperand {
      PredicateOperand(key(at: place), .key(place.entity), T.ID.self) { value in
        try (value as? T.ID).map { try T.storedKey(of: $0) }
      }
    }
    return operand(place.entity.type)
  }
}

extension PredicateExpressions.NilCoalesce: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    guard let a = translation.operand(lhs) else { return nil }
    if let value = translation.constant(rhs) {
      return translation.value(value, like: a).map { a.with(.coalesce(a.expression, $0.expression)) }
    }
    guard let b = translation.operand(rhs), a.kind == b.kind, a.type == b.type else { return nil }
    return a.with(.coalesce(a.expression, b.expression))
  }
}

extension PredicateExpressions.OptionalFlatMap: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    let tested: StoredExpression
    let inner: PredicateTranslation
    if let place = translation.place(wrapped) {
      tested = translation.key(at: place)
      inner = translation.binding(variable.key, to: .place(place))
    } else if let operand = translation.operand(wrapped) {
      tested = operand.expression
      inner = translation.binding(variable.key, to: .operand(operand))
    } else {
      return nil
    }
    guard let result = inner.operand(transform) else { return nil }
    // A column of a row that is not there is `null` anyway.
    if result.isColumn, translation.place(wrapped) != nil { return result }
    return result.with(.choice(.relates(tested, .same, .value(.null)), .value(.null), result.expression))
  }
}

extension PredicateExpressions.Conditional: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    guard let test = translation.condition(of: test) else { return nil }
    func choice(_ a: PredicateOperand, _ b: PredicateOperand) -> PredicateOperand? {
      a.kind == b.kind && a.type == b.type ? a.with(.choice(test, a.expression, b.expression)) : nil
    }
    if let a = translation.operand(trueBranch) {
      if let value = translation.constant(falseBranch) {
        return translation.value(value, like: a).flatMap { choice(a, $0) }
      }
      return translation.operand(falseBranch).flatMap { choice(a, $0) }
    }
    guard let value = translation.constant(trueBranch), let b = translation.operand(falseBranch) else { return nil }
    return translation.value(value, like: b).flatMap { choice($0, b) }
  }
}

extension PredicateTranslation {
  fileprivate func arithmetic(
    _ a: any PredicateExpression, _ operation: StoredArithmetic, _ b: any PredicateExpression
  ) -> PredicateOperand? {
    guard let (a, b) = pair(a, b), case .number(let type) = a.kind, a.expression != .value(.null),
      b.expression != .value(.null)
    else { return nil }
    return a.with(.arithmetic(operation, type, a.expression, b.expression))
  }
}

extension PredicateExpressions.Arithmetic: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    let operation: StoredArithmetic? =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: nil
      }
    return operation.flatMap { translation.arithmetic(lhs, $0, rhs) }
  }
}

extension PredicateExpressions.IntDivision: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    translation.arithmetic(lhs, .divide, rhs)
  }
}

extension PredicateExpressions.IntRemainder: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    translation.arithmetic(lhs, .remainder, rhs)
  }
}

extension PredicateExpressions.FloatDivision: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    translation.arithmetic(lhs, .divide, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: OperandExpression {
  fileprivate func operand(_ translation: PredicateTranslation) -> PredicateOperand? {
    guard let operand = translation.operand(wrapped), case .number(let type) = operand.kind else { return nil }
    // That of 0.0 is -0.0.
    let minusOne: StoredExpression = .value(type.isReal ? .real(-1) : .integer(-1))
    return operand.with(.arithmetic(.multiply, type, operand.expression, minusOne))
  }
}

// MARK: Conditions on texts and on elements

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    translation.texts(base, .contains, other)
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    translation.texts(base, .starts, prefix)
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    translation.hasElement(of: sequence, variable.key, isNegated: false, test)
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    translation.hasElement(of: sequence, variable.key, isNegated: true, test).map { .not($0) }
  }
}
