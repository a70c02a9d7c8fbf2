import ConcordModel
import Foundation

/// Finds out what of a predicate a store can evaluate itself: comparisons of columns with values, where both are stored so that
/// the store compares as Swift does, and what `&&`, `||` and `!` make of them; other parts that have a value (``PredicateOperand``).
struct PredicateTranslation {
  /// The type of the row that is looked at.
  let entity: EntityDescription
  let model: Model
  /// How many rows further in than the outermost that is.
  let depth: Int
  /// What stands for the entity.
  private let variable: PredicateExpressions.VariableID
  private let encodeKey: (Any) throws -> StoredValue?
  /// What the variables stand for, that of the entity included.
  private var bindings: [PredicateExpressions.VariableID: Binding]

  init<T: PersistentEntity>(_ predicate: Predicate<T>, _ entity: EntityDescription, _ model: Model) {
    self.init(predicate.variable.key, entity, model, [:], depth: 0)
  }

  private init(
    _ variable: PredicateExpressions.VariableID, _ entity: EntityDescription, _ model: Model,
    _ bindings: [PredicateExpressions.VariableID: Binding], depth: Int
  ) {
    func encoder<T: PersistentEntity>(_ type: T.Type) -> (Any) throws -> StoredValue? {
      { value in try (value as? T.ID).map { try T.storedKey(of: $0) } }
    }
    self.entity = entity
    self.model = model
    self.depth = depth
    self.variable = variable
    self.bindings = bindings
    self.bindings[variable] = .place(PredicatePlace(depth: depth, entity: entity))
    encodeKey = encoder(entity.type)
  }

  func binding(of variable: PredicateExpressions.VariableID) -> Binding? { bindings[variable] }

  /// The same where a variable stands for something.
  func binding(_ variable: PredicateExpressions.VariableID, to binding: Binding) -> PredicateTranslation {
    var translation = self
    translation.bindings[variable] = binding
    return translation
  }

  /// For a condition on an element of a collection.
  func inside(_ variable: PredicateExpressions.VariableID, _ entity: EntityDescription) -> PredicateTranslation {
    // Expressions that variables stand for are those of the row outside.
    let outer = bindings.mapValues { binding in
      guard case .operand(let operand) = binding else { return binding }
      return .operand(operand.with(.outer(operand.expression)))
    }
    return PredicateTranslation(variable, entity, model, outer, depth: depth + 1)
  }

  /// What a store is to look for, and the parts of the predicate that are left.
  ///
  /// Of a conjunction the store takes what stands before the first part that it cannot evaluate: what stands behind it may not
  /// be evaluated before it, since it may throw.
  func condition<T>(of predicate: Predicate<T>) -> (condition: StoredCondition, rest: [any PredicateExpression]) {
    let parts = conjuncts(of: predicate.expression)
    var conditions: [StoredCondition] = []
    for part in parts {
      guard let condition = condition(of: part) else { break }
      conditions.append(condition)
      guard StoredCondition.all(conditions).fitsStatement else {
        conditions.removeLast()
        break
      }
    }
    let condition = conditions.count == 1 ? conditions[0] : StoredCondition.all(conditions)
    return (conditions.isEmpty ? .always(true) : condition, Array(parts.dropFirst(conditions.count)))
  }

  private func conjuncts(of expression: any PredicateExpression) -> [any PredicateExpression] {
    guard let conjunction = expression as? any ConjunctionExpression else { return [expression] }
    return conjunction.sides.flatMap(conjuncts)
  }

  /// The condition that a part of a predicate is; `nil` if a store cannot evaluate it.
  ///
  /// - Parameter isOperand: whether it is known to have no value as an operand.
  func condition(of expression: any PredicateExpression, isOperand: Bool = false) -> StoredCondition? {
    if let isTrue = constant(expression)?.value as? Bool { return .always(isTrue) }
    if let column = column(expression), column.type == Bool.self { return .isEqual(column.stored, .integer(1)) }
    if let condition = (expression as? any TranslatableExpression)?.condition(self) { return condition }
    guard !isOperand, let operand = operand(expression), operand.kind == .truth else { return nil }
    if case .truth(let condition) = operand.expression { return condition }
    return .relates(operand.expression, .same, .value(.integer(1)))
  }

  // MARK: Operands

  /// A value that does not depend on the entity.
  struct Constant { let value: Any }

  func constant(_ expression: any PredicateExpression) -> Constant? {
    func evaluate<E: PredicateExpression>(_ expression: E) -> Constant? {
      // Whatever depends on the entity throws.
      (try? expression.evaluate(PredicateBindings())).map { Constant(value: $0) }
    }
    return evaluate(expression)
  }

  /// A column that stands in a predicate.
  struct Column {
    enum Kind {
      /// Compared as SQLite does.
      case same(StoredComparison)
      /// A number with a fraction: NaN and -0.0 are stored as bits.
      case real
      case text
      /// Nothing but `nil` can be looked for.
      case other
    }

    let stored: StoredColumn
    let kind: Kind
    let type: Any.Type
    let isOptional: Bool
    let encode: (Any) throws -> StoredValue?
    /// What `??` puts there instead of `nil`.
    var substitute: StoredValue?
  }

  func column(_ expression: any PredicateExpression) -> Column? {
    (expression as? any ColumnExpression)?.column(self)
  }

  /// The column of a property.
  fileprivate func column(_ keyPath: AnyKeyPath, of root: any PredicateExpression, type: Any.Type) -> Column? {
    if let variable = root as? any VariableExpression {
      guard variable.variableID == self.variable, let position = entity.position(of: keyPath) else { return nil }
      return column(at: position, type)
    }
    return referenceID(keyPath, of: root, type)
  }

  private func column(at position: Int, _ type: Any.Type) -> Column? {
    let column = entity.columns[position]
    if position == entity.idPosition, entity.isIDItsKey {
      return Column(
        stored: .key, kind: .same(column.comparison == .order ? .order : .equality), type: type, isOptional: false,
        encode: encodeKey)
    }
    let isText = type == String.self || type == String?.self
    let kind: Column.Kind =
      switch column.role {
      case .value where column.comparison == .order || column.comparison == .equality: .same(column.comparison)
      case .value where column.isReal && (Self.realTypes.contains { $0 == type }): .real
      case .value where isText: .text
      default: .other
      }
    return Column(stored: .position(position), kind: kind, type: type, isOptional: column.isOptional) { value in
      isNil(value) ? .null : try entity.encode(value, forColumnAt: position)
    }
  }

  private static let realTypes: [Any.Type] = [
    Double.self, Double?.self, Float.self, Float?.self, Date.self, Date?.self,
  ]

  /// The id of an entity that the entity refers to is in the entity's own row.
  private func referenceID(_ keyPath: AnyKeyPath, of root: any PredicateExpression, _ type: Any.Type) -> Column? {
    guard let outer = root as? any KeyPathExpression, let variable = outer.rootExpression as? any VariableExpression,
      variable.variableID == self.variable, let position = entity.position(of: outer.anyKeyPath),
      entity.columns[position].role == .reference, !entity.columns[position].isOptional,
      let target = entity.columns[position].target.flatMap(model.entity(named:)), let idPosition = target.idPosition,
      target.position(of: keyPath) == idPosition
    else { return nil }
    func encoder<T: PersistentEntity>(_ target: T.Type) -> (Any) throws -> StoredValue? {
      { value in try (value as? T.ID).map { try T.storedKey(of: $0) } }
    }
    let comparison = target.columns[idPosition].comparison
    return Column(
      stored: .position(position), kind: .same(comparison == .order && target.isIDItsKey ? .order : .equality),
      type: type, isOptional: false, encode: encoder(target.type))
  }

  // MARK: Comparisons

  func equal(_ a: any PredicateExpression, _ b: any PredicateExpression) -> StoredCondition? {
    equalColumns(a, b) ?? equalOperands(a, b)
  }

  private func equalColumns(_ a: any PredicateExpression, _ b: any PredicateExpression) -> StoredCondition? {
    if let column = column(a), let value = constant(b) { return equal(column, value.value) }
    if let column = column(b), let value = constant(a) { return equal(column, value.value) }
    guard let a = column(a), let b = column(b), case .same(let first) = a.kind, case .same(let second) = b.kind,
      first != .none, second != .none, a.substitute == nil, b.substitute == nil,
      a.type == b.type || a.type == optional(b.type) || b.type == optional(a.type), a.stored != .key, b.stored != .key
    else { return nil }
    return .areEqual(a.stored, b.stored)
  }

  private func optional(_ type: Any.Type) -> Any.Type {
    func optional<T>(_ type: T.Type) -> Any.Type { T?.self }
    return _openExistential(type, do: optional)
  }

  func equal(_ column: Column, _ value: Any) -> StoredCondition? {
    guard let stored = try? column.encode(value) else { return nil }
    if stored.isNull { return column.substitute == nil ? .isEqual(column.stored, .null) : .always(false) }
    guard var condition = equal(column, stored: stored) else { return nil }
    if let substitute = column.substitute, substitute == stored {
      condition = .any([condition, .isEqual(column.stored, .null)])
    }
    return condition
  }

  private func equal(_ column: Column, stored: StoredValue) -> StoredCondition? {
    switch column.kind {
    case .same(.none), .other: nil
    case .same: .isEqual(column.stored, stored)
    case .real:
      switch stored {
      case .real(let number) where number == 0: .isIn(column.stored, [stored, column.negativeZero])
      case .real: .isEqual(column.stored, stored)
      // -0.0 is 0.0; nothing is NaN.
      case column.negativeZero: .isIn(column.stored, [.real(0), stored])
      default: .always(false)
      }
    case .text: text(stored).map { .isIn(column.stored, $0) }
    }
  }

  /// All ways to store a text that is equal; `nil` if they are too many.
  private func text(_ stored: StoredValue) -> Set<StoredValue>? {
    guard case .text(let text) = stored, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    // Of ASCII only these have another form. What is not ASCII can be composed in more ways than can be listed.
    let others: [Character: Character] = ["K": "\u{212A}", ";": "\u{37E}", "`": "\u{1FEF}"]
    guard text.count(where: { others[$0] != nil }) <= 4 else { return nil }
    var forms = [""]
    for unit in text.unicodeScalars {
      let forms2 = others[Character(unit)].map { [String(unit), String($0)] } ?? [String(unit)]
      forms = forms.flatMap { form in forms2.map { form + $0 } }
    }
    return Set(forms.map { .text($0) })
  }

  func compares(
    _ a: any PredicateExpression, _ comparison: StoredComparisonOperator, _ b: any PredicateExpression
  ) -> StoredCondition? {
    comparesColumns(a, comparison, b) ?? orderedOperands(a, comparison, b)
  }

  private func comparesColumns(
    _ a: any PredicateExpression, _ comparison: StoredComparisonOperator, _ b: any PredicateExpression
  ) -> StoredCondition? {
    if let column = column(a), let value = constant(b) { return compares(column, comparison, value.value) }
    if let column = column(b), let value = constant(a) { return compares(column, comparison.mirrored, value.value) }
    guard let a = column(a), let b = column(b), case .same(.order) = a.kind, case .same(.order) = b.kind,
      a.substitute == nil, b.substitute == nil
    else { return nil }
    return .areOrdered(a.stored, comparison, b.stored)
  }

  /// The same with a value.
  func compares(
    _ a: any PredicateExpression, _ comparison: StoredComparisonOperator, _ value: Any
  ) -> StoredCondition? {
    column(a).flatMap { compares($0, comparison, value) }
      ?? orderedOperands(a, comparison, PredicateExpressions.Value(value))
  }

  private func compares(_ column: Column, _ comparison: StoredComparisonOperator, _ value: Any) -> StoredCondition? {
    guard let stored = try? column.encode(value), !stored.isNull else { return nil }
    var condition: StoredCondition
    switch column.kind {
    case .same(.order): condition = .compares(column.stored, comparison, stored)
    case .real:
      guard let compared = realCompares(column, comparison, stored) else { return nil }
      condition = compared
    default: return nil
    }
    if let substitute = column.substitute {
      guard case .same = column.kind else { return nil }
      if comparison.holds(substitute, stored) { condition = .any([condition, .isEqual(column.stored, .null)]) }
    }
    return condition
  }

  /// To a store all bits are greater than all numbers, so that they are left out, and -0.0 is looked for on its own.
  private func realCompares(
    _ column: Column, _ comparison: StoredComparisonOperator, _ stored: StoredValue
  ) -> StoredCondition? {
    let number: Double
    switch stored {
    case .real(let value): number = value
    case column.negativeZero: number = 0
    // Nothing is ordered beside NaN.
    default: return .always(column.isDate && (comparison == .lessOrEqual || comparison == .greaterOrEqual))
    }
    if column.isDate { return dateCompares(column, comparison, number) }
    var conditions = [StoredCondition.compares(column.stored, comparison, .real(number))]
    if comparison == .greater || comparison == .greaterOrEqual {
      conditions.append(.compares(column.stored, .lessOrEqual, .real(.infinity)))
    }
    let condition = conditions.count == 1 ? conditions[0] : .all(conditions)
    guard comparison.holds(.real(0), .real(number)) else { return condition }
    return .any([condition, .isEqual(column.stored, column.negativeZero)])
  }

  /// The same for dates, of which Foundation knows only `<` and `>`: what is not greater is less or equal, NaN too.
  private func dateCompares(
    _ column: Column, _ comparison: StoredComparisonOperator, _ number: Double
  ) -> StoredCondition {
    let holds = StoredCondition.compares(column.stored, comparison, .real(number))
    let isZeroMeant = comparison.holds(.real(0), .real(number))
    let isNegativeZero = StoredCondition.isEqual(column.stored, column.negativeZero)
    switch comparison {
    case .less: return isZeroMeant ? .any([holds, isNegativeZero]) : holds
    case .greater:
      let isNumber = StoredCondition.compares(column.stored, .lessOrEqual, .real(.infinity))
      return isZeroMeant ? .any([.all([holds, isNumber]), isNegativeZero]) : .all([holds, isNumber])
    // All bits are greater than all numbers.
    case .greaterOrEqual: return isZeroMeant ? holds : .all([holds, .not(isNegativeZero)])
    case .lessOrEqual:
      let isBits = StoredCondition.compares(column.stored, .greaterOrEqual, .blob(Data()))
      return .any([holds, isZeroMeant ? isBits : .all([isBits, .not(isNegativeZero)])])
    }
  }

  /// One of some values.
  func isIn(_ values: [Any], _ column: Column) -> StoredCondition? {
    guard values.count <= 500 else { return nil }
    var conditions: [StoredCondition] = []
    var wanted: Set<StoredValue> = []
    for value in values {
      guard let condition = equal(column, value) else { return nil }
      switch condition {
      case .isEqual(column.stored, let value): wanted.insert(value)
      case .isIn(column.stored, let values): wanted.formUnion(values)
      case .always(false): break
      default: conditions.append(condition)
      }
    }
    guard wanted.count <= 2000, conditions.count <= 200 else { return nil }
    if !wanted.isEmpty { conditions.append(.isIn(column.stored, wanted)) }
    return conditions.count == 1 ? conditions[0] : .any(conditions)
  }
}

extension PredicateTranslation.Column {
  fileprivate var isDate: Bool { type == Date.self || type == Date?.self }

  /// How -0.0 is stored there.
  var negativeZero: StoredValue {
    type == Float.self || type == Float?.self ? (-Float.zero).storedValue : (-Double.zero).storedValue
  }
}

extension StoredComparisonOperator {
  /// The one between the two in the other order.
  var mirrored: StoredComparisonOperator {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

func isNil(_ value: Any) -> Bool { (value as? any OptionalValue)?.isNone ?? false }

private protocol OptionalValue { var isNone: Bool { get } }
extension Optional: OptionalValue { fileprivate var isNone: Bool { self == nil } }

// MARK: The expressions that a store can evaluate

protocol TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition?
}

private protocol ColumnExpression {
  func column(_ translation: PredicateTranslation) -> PredicateTranslation.Column?
}

protocol VariableExpression { var variableID: PredicateExpressions.VariableID { get } }

protocol KeyPathExpression {
  var anyKeyPath: AnyKeyPath { get }
  var rootExpression: any PredicateExpression { get }
}

private protocol ConjunctionExpression { var sides: [any PredicateExpression] { get } }

extension PredicateExpressions.Variable: VariableExpression {
  var variableID: PredicateExpressions.VariableID { key }
}

extension PredicateExpressions.KeyPath: KeyPathExpression, ColumnExpression {
  var anyKeyPath: AnyKeyPath { keyPath }
  var rootExpression: any PredicateExpression { root }
  fileprivate func column(_ translation: PredicateTranslation) -> PredicateTranslation.Column? {
    translation.column(keyPath, of: root, type: Output.self)
  }
}

extension PredicateExpressions.NilCoalesce: ColumnExpression {
  fileprivate func column(_ translation: PredicateTranslation) -> PredicateTranslation.Column? {
    guard var column = translation.column(lhs), column.substitute == nil, case .same = column.kind,
      let value = translation.constant(rhs), let stored = try? column.encode(value.value), !stored.isNull
    else { return nil }
    column.substitute = stored
    return column
  }
}

extension PredicateExpressions.Conjunction: ConjunctionExpression, TranslatableExpression {
  fileprivate var sides: [any PredicateExpression] { [lhs, rhs] }
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard let a = translation.condition(of: lhs), let b = translation.condition(of: rhs) else { return nil }
    return .all(a, b)
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard let a = translation.condition(of: lhs), let b = translation.condition(of: rhs) else { return nil }
    return .any(a, b)
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    translation.condition(of: wrapped).map { .not($0) }
  }
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? { translation.equal(lhs, rhs) }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    translation.equal(lhs, rhs).map { .not($0) }
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    let comparison: StoredComparisonOperator? =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: nil
      }
    return comparison.flatMap { translation.compares(lhs, $0, rhs) }
  }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard let values = translation.constant(sequence)?.value as? any Sequence else { return nil }
    let wanted = Array(anyOf: values)
    let condition = translation.column(element).flatMap { translation.isIn(wanted, $0) }
    return condition ?? translation.isIn(wanted, element)
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard let range = translation.constant(range)?.value as? any BoundedRange else { return nil }
    var conditions: [StoredCondition] = []
    if let lower = range.lower {
      guard let condition = translation.compares(element, .greaterOrEqual, lower) else { return nil }
      conditions.append(condition)
    }
    if let upper = range.upper {
      let comparison: StoredComparisonOperator = range.includesUpper ? .lessOrEqual : .less
      guard let condition = translation.compares(element, comparison, upper) else { return nil }
      conditions.append(condition)
    }
    return .all(conditions)
  }
}

extension [Any] {
  fileprivate init(anyOf sequence: any Sequence) {
    func elements(_ sequence: some Sequence) -> [Any] { sequence.map { $0 as Any } }
    self = elements(sequence)
  }
}

private protocol BoundedRange {
  var lower: Any? { get }
  var upper: Any? { get }
  var includesUpper: Bool { get }
}

extension Range: BoundedRange {
  fileprivate var lower: Any? { lowerBound }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { false }
}
extension ClosedRange: BoundedRange {
  fileprivate var lower: Any? { lowerBound }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { true }
}
extension PartialRangeFrom: BoundedRange {
  fileprivate var lower: Any? { lowerBound }
  fileprivate var upper: Any? { nil }
  fileprivate var includesUpper: Bool { false }
}
extension PartialRangeUpTo: BoundedRange {
  fileprivate var lower: Any? { nil }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { false }
}
extension PartialRangeThrough: BoundedRange {
  fileprivate var lower: Any? { nil }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { true }
}
