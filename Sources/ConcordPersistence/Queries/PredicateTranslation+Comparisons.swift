import ConcordModel
import Foundation

extension PredicateTranslation {
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

  /// Returns a function that makes conditions which compare an expression with a value each.
  func comparison(
    of expression: any PredicateExpression
  ) -> (_ comparison: StoredComparisonOperator, _ value: Any) -> StoredCondition? {
    let (column, operand) = (column(expression), operand(expression))
    return { comparison, value in
      column.flatMap { compares($0, comparison, value) }
        ?? operand.flatMap { orderedOperand($0, comparison, Constant(value: value)) }
    }
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

  /// Compares dates, of which Foundation knows only `<` and `>`: what is not greater is less or equal, NaN too.
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

  /// Returns the condition that a column has one of some values.
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

  /// The stored form of -0.0.
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
