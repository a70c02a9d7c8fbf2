import ConcordModel
import Foundation

/// Finds out what of a predicate a store can evaluate itself: comparisons of columns with values, where both are stored so that
/// the store compares as Swift does, and what `&&`, `||` and `!` make of them; other parts that have a value (``PredicateOperand``).
struct PredicateTranslation {
  /// The type of the row that is looked at.
  let entity: EntityDescription
  let model: Model
  /// The nesting depth of the row below the outermost one.
  let depth: Int
  /// The variable of the entity.
  private let variable: PredicateExpressions.VariableID
  private let encodeKey: (Any) throws -> StoredValue?
  /// Whether the whole predicate has operators that are checked.
  private let isChecked: Bool
  /// The bindings of the variables, including the entity's.
  private var bindings: [PredicateExpressions.VariableID: Binding]

  init<T: PersistentEntity>(_ predicate: Predicate<T>, _ entity: EntityDescription, _ model: Model) {
    self.init(
      predicate.variable.key, entity, model, [:], depth: 0, isChecked: predicate.expression.checkedInside() != nil)
  }

  private init(
    _ variable: PredicateExpressions.VariableID, _ entity: EntityDescription, _ model: Model,
    _ bindings: [PredicateExpressions.VariableID: Binding], depth: Int, isChecked: Bool
  ) {
    func encoder<T: PersistentEntity>(_ type: T.Type) -> (Any) throws -> StoredValue? {
      { value in try (value as? T.ID).map { try T.storedKey(of: $0) } }
    }
    self.entity = entity
    self.model = model
    self.depth = depth
    self.isChecked = isChecked
    self.variable = variable
    self.bindings = bindings
    self.bindings[variable] = .place(PredicatePlace(depth: depth, entity: entity))
    encodeKey = encoder(entity.type)
  }

  /// Whether a variable stands for the row that is looked at.
  func isEntity(_ variable: any VariableExpression) -> Bool { variable.variableID == self.variable }

  /// Returns a translation of a predicate that is a part of this one, and concerns the same row.
  func inside(_ variable: any VariableExpression) -> PredicateTranslation {
    PredicateTranslation(variable.variableID, entity, model, bindings, depth: depth, isChecked: isChecked)
  }

  func binding(of variable: PredicateExpressions.VariableID) -> Binding? { bindings[variable] }

  /// Returns a translation in which a variable is bound.
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
    return PredicateTranslation(variable, entity, model, outer, depth: depth + 1, isChecked: isChecked)
  }

  /// Returns the condition for a store, and the parts of the predicate that are left to memory.
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
    // Once: what cannot be translated would otherwise be tried twice at each depth.
    if let expression = expression as? any TranslatableExpression { return expression.condition(self) }
    guard !isOperand, let operand = operand(expression), operand.kind == .truth else { return nil }
    if case .truth(let condition) = operand.expression { return condition }
    return .relates(operand.expression, .same, .value(.integer(1)))
  }

  // MARK: Operands

  /// A value that does not depend on the entity.
  struct Constant { let value: Any }

  func constant(_ expression: any PredicateExpression) -> Constant? {
    func evaluate<E: PredicateExpression>(_ expression: E) -> Constant? {
      let evaluate = isChecked ? expression.checkedInside()?.evaluate ?? expression.evaluate : expression.evaluate
      // Whatever depends on the entity throws.
      return (try? evaluate(PredicateBindings())).map { Constant(value: $0) }
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
    /// The value that `??` puts in place of `nil`.
    var substitute: StoredValue?
  }

  func column(_ expression: any PredicateExpression) -> Column? {
    (expression as? any ColumnExpression)?.column(self)
  }

  /// The column of a property.
  func column(_ keyPath: AnyKeyPath, of root: any PredicateExpression, type: Any.Type) -> Column? {
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
}

/// Whether a value of any type is an optional that is `nil`.
func isNil(_ value: Any) -> Bool { (value as? any OptionalValue)?.isNone ?? false }

private protocol OptionalValue { var isNone: Bool { get } }
extension Optional: OptionalValue { fileprivate var isNone: Bool { self == nil } }
