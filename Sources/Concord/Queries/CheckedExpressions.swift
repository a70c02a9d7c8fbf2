public import Foundation

// Each kind of part that a predicate is made of. A kind that is not here is evaluated as it is.

/// Makes a part from its only one, if that needs it.
private func made<A: PredicateExpression, Made: PredicateExpression>(
  _ a: A, _ make: (CheckedValue<A.Output>) -> Made
) -> CheckedValue<Made.Output>? {
  a.checkedInside().map { CheckedValue(make($0).evaluate) }
}

/// Makes a part from two, if one of them needs it.
private func made<A: PredicateExpression, B: PredicateExpression, Made: PredicateExpression>(
  _ a: A, _ b: B, _ make: (CheckedValue<A.Output>, CheckedValue<B.Output>) -> Made
) -> CheckedValue<Made.Output>? {
  let (a, b) = (CheckedPart(a), CheckedPart(b))
  return a.isChecked || b.isChecked ? CheckedValue(make(a.value, b.value).evaluate) : nil
}

/// Makes a part from three, if one of them needs it.
private func made<A: PredicateExpression, B: PredicateExpression, C: PredicateExpression, Made: PredicateExpression>(
  _ a: A, _ b: B, _ c: C, _ make: (CheckedValue<A.Output>, CheckedValue<B.Output>, CheckedValue<C.Output>) -> Made
) -> CheckedValue<Made.Output>? {
  let (a, b, c) = (CheckedPart(a), CheckedPart(b), CheckedPart(c))
  return a.isChecked || b.isChecked || c.isChecked ? CheckedValue(make(a.value, b.value, c.value).evaluate) : nil
}

// MARK: Operators that trap

extension PredicateExpressions.Arithmetic: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    let operation: CheckedArithmetic? =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: nil
      }
    guard let operation, let calculate = calculation(LHS.Output.self, operation) else {
      return made(lhs, rhs) { PredicateExpressions.Arithmetic(lhs: $0, rhs: $1, op: op) }
    }
    return calculated(lhs, rhs, calculate)
  }
}

extension PredicateExpressions.IntDivision: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    calculation(LHS.Output.self, .divide).map { calculated(lhs, rhs, $0) }
      ?? made(lhs, rhs) { PredicateExpressions.IntDivision(lhs: $0, rhs: $1) }
  }
}

extension PredicateExpressions.IntRemainder: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    calculation(LHS.Output.self, .remainder).map { calculated(lhs, rhs, $0) }
      ?? made(lhs, rhs) { PredicateExpressions.IntRemainder(lhs: $0, rhs: $1) }
  }
}

extension PredicateExpressions.UnaryMinus: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    guard let calculate = calculation(Wrapped.Output.self, .subtract) else {
      return made(wrapped) { PredicateExpressions.UnaryMinus($0) }
    }
    return calculated(PredicateExpressions.Value(Wrapped.Output.zero), wrapped, calculate)
  }
}

/// Returns the calculation of an operator with numbers of a type; `nil` if these have no greatest number.
private func calculation<T>(_ type: T.Type, _ operation: CheckedArithmetic) -> ((T, T) throws -> T)? {
  func calculation<N: FixedWidthInteger>(_ type: N.Type) -> Any {
    { (a: N, b: N) throws -> N in try operation.result(a, b) }
  }
  return (type as? any FixedWidthInteger.Type).flatMap { calculation($0) as? (T, T) throws -> T }
}

private func calculated<A: PredicateExpression, B: PredicateExpression>(
  _ a: A, _ b: B, _ calculate: @escaping (A.Output, A.Output) throws -> A.Output
) -> CheckedValue<A.Output> where A.Output == B.Output {
  let (a, b) = (CheckedPart(a).value, CheckedPart(b).value)
  return CheckedValue { try calculate(a.evaluate($0), b.evaluate($0)) }
}

extension PredicateExpressions.Range: CheckedExpression {
  package var checked: CheckedValue<Output>? { range(lower, upper, "..<") { $0..<$1 } }
}

extension PredicateExpressions.ClosedRange: CheckedExpression {
  package var checked: CheckedValue<Output>? { range(lower, upper, "...") { $0...$1 } }
}

private func range<A: PredicateExpression, B: PredicateExpression, Made>(
  _ lower: A, _ upper: B, _ sign: String, _ make: @escaping (A.Output, A.Output) -> Made
) -> CheckedValue<Made> where A.Output == B.Output, A.Output: Comparable {
  let (lower, upper) = (CheckedPart(lower).value, CheckedPart(upper).value)
  return CheckedValue { bindings in
    let (first, last) = try (lower.evaluate(bindings), upper.evaluate(bindings))
    guard first <= last else { throw ArithmeticFailure("\(first)\(sign)\(last) is no range") }
    return make(first, last)
  }
}

// MARK: Conditions

extension PredicateExpressions.Conjunction: CheckedExpression {
  package var checked: CheckedValue<Bool>? { made(lhs, rhs) { PredicateExpressions.Conjunction(lhs: $0, rhs: $1) } }
}

extension PredicateExpressions.Disjunction: CheckedExpression {
  package var checked: CheckedValue<Bool>? { made(lhs, rhs) { PredicateExpressions.Disjunction(lhs: $0, rhs: $1) } }
}

extension PredicateExpressions.Negation: CheckedExpression {
  package var checked: CheckedValue<Bool>? { made(wrapped) { PredicateExpressions.Negation($0) } }
}

extension PredicateExpressions.Equal: CheckedExpression {
  package var checked: CheckedValue<Bool>? { made(lhs, rhs) { PredicateExpressions.Equal(lhs: $0, rhs: $1) } }
}

extension PredicateExpressions.NotEqual: CheckedExpression {
  package var checked: CheckedValue<Bool>? { made(lhs, rhs) { PredicateExpressions.NotEqual(lhs: $0, rhs: $1) } }
}

extension PredicateExpressions.Comparison: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    made(lhs, rhs) { PredicateExpressions.Comparison(lhs: $0, rhs: $1, op: op) }
  }
}

extension PredicateExpressions.Conditional: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    made(test, trueBranch, falseBranch) {
      PredicateExpressions.Conditional(test: $0, trueBranch: $1, falseBranch: $2)
    }
  }
}

// MARK: Values

extension PredicateExpressions.KeyPath: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    made(root) { PredicateExpressions.KeyPath(root: $0, keyPath: keyPath) }
  }
}

extension PredicateExpressions.FloatDivision: CheckedExpression {
  package var checked: CheckedValue<Output>? { made(lhs, rhs) { PredicateExpressions.FloatDivision(lhs: $0, rhs: $1) } }
}

extension PredicateExpressions.NilCoalesce: CheckedExpression {
  package var checked: CheckedValue<Output>? { made(lhs, rhs) { PredicateExpressions.NilCoalesce(lhs: $0, rhs: $1) } }
}

extension PredicateExpressions.ForcedUnwrap: CheckedExpression {
  package var checked: CheckedValue<Output>? { made(inner) { PredicateExpressions.ForcedUnwrap($0) } }
}

extension PredicateExpressions.OptionalFlatMap: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    let (wrapped, transform, variable) = (CheckedPart(wrapped), CheckedPart(transform), variable)
    guard wrapped.isChecked || transform.isChecked else { return nil }
    return CheckedValue { bindings in
      guard let value = try wrapped.value.evaluate(bindings) else { return nil }
      // The result of the closure may be optional itself.
      return try transform.value.evaluate(bindings.binding(variable, to: value)) as? Result
    }
  }
}

extension PredicateExpressions.ConditionalCast: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    made(input) { PredicateExpressions.ConditionalCast<CheckedValue<Input.Output>, Desired>($0) }
  }
}

extension PredicateExpressions.ForceCast: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    made(input) { PredicateExpressions.ForceCast<CheckedValue<Input.Output>, Desired>($0) }
  }
}

extension PredicateExpressions.TypeCheck: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    made(input) { PredicateExpressions.TypeCheck<CheckedValue<Input.Output>, Desired>($0) }
  }
}

// MARK: Texts and collections

extension PredicateExpressions.SequenceContains: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    made(sequence, element) { PredicateExpressions.SequenceContains(sequence: $0, element: $1) }
  }
}

extension PredicateExpressions.SequenceContainsWhere: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    tested(sequence, test, variable) { elements, test in try elements.contains(where: test) }
  }
}

extension PredicateExpressions.SequenceAllSatisfy: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    tested(sequence, test, variable) { elements, test in try elements.allSatisfy(test) }
  }
}

extension PredicateExpressions.Filter: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    tested(sequence, filter, variable) { elements, test in try elements.filter(test) }
  }
}

private func tested<Elements: PredicateExpression, Test: PredicateExpression, Made>(
  _ elements: Elements, _ test: Test, _ variable: PredicateExpressions.Variable<Elements.Output.Element>,
  _ make: @escaping (Elements.Output, (Elements.Output.Element) throws -> Bool) throws -> Made
) -> CheckedValue<Made>? where Elements.Output: Sequence, Test.Output == Bool {
  let (elements, test) = (CheckedPart(elements), CheckedPart(test))
  guard elements.isChecked || test.isChecked else { return nil }
  return CheckedValue { bindings in
    try make(elements.value.evaluate(bindings)) { try test.value.evaluate(bindings.binding(variable, to: $0)) }
  }
}

extension PredicateExpressions.SequenceStartsWith: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    made(base, prefix) { PredicateExpressions.SequenceStartsWith(base: $0, prefix: $1) }
  }
}

extension PredicateExpressions.SequenceMaximum: CheckedExpression {
  package var checked: CheckedValue<Output>? { made(elements) { PredicateExpressions.SequenceMaximum(elements: $0) } }
}

extension PredicateExpressions.SequenceMinimum: CheckedExpression {
  package var checked: CheckedValue<Output>? { made(elements) { PredicateExpressions.SequenceMinimum(elements: $0) } }
}

extension PredicateExpressions.CollectionContainsCollection: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    made(base, other) { PredicateExpressions.CollectionContainsCollection(base: $0, other: $1) }
  }
}

extension PredicateExpressions.CollectionIndexSubscript: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    made(wrapped, index) { PredicateExpressions.CollectionIndexSubscript(wrapped: $0, index: $1) }
  }
}

extension PredicateExpressions.CollectionRangeSubscript: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    made(wrapped, range) { PredicateExpressions.CollectionRangeSubscript(wrapped: $0, range: $1) }
  }
}

extension PredicateExpressions.DictionaryKeySubscript: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    made(wrapped, key) { PredicateExpressions.DictionaryKeySubscript(wrapped: $0, key: $1) }
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    made(wrapped, key, `default`) {
      PredicateExpressions.DictionaryKeyDefaultValueSubscript(wrapped: $0, key: $1, default: $2)
    }
  }
}

extension PredicateExpressions.RangeExpressionContains: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    made(range, element) { PredicateExpressions.RangeExpressionContains(range: $0, element: $1) }
  }
}

extension PredicateExpressions.StringContainsRegex: CheckedExpression {
  package var checked: CheckedValue<Bool>? {
    made(subject, regex) { PredicateExpressions.StringContainsRegex(subject: $0, regex: $1) }
  }
}

#if canImport(Darwin)
  extension PredicateExpressions.StringCaseInsensitiveCompare: CheckedExpression {
    package var checked: CheckedValue<Output>? {
      made(root, other) { PredicateExpressions.StringCaseInsensitiveCompare(root: $0, other: $1) }
    }
  }

  extension PredicateExpressions.StringLocalizedCompare: CheckedExpression {
    package var checked: CheckedValue<Output>? {
      made(root, other) { PredicateExpressions.StringLocalizedCompare(root: $0, other: $1) }
    }
  }

  extension PredicateExpressions.StringLocalizedStandardContains: CheckedExpression {
    package var checked: CheckedValue<Output>? {
      made(root, other) { PredicateExpressions.StringLocalizedStandardContains(root: $0, other: $1) }
    }
  }
#endif

// MARK: Other predicates

extension PredicateExpressions.ExpressionEvaluate: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    let constant = (expression as? PredicateExpressions.Value<Transformation.Output>)?.value
    let known = constant?.expression.checkedInside()
    let (expression, input) = (CheckedPart(expression).value, (repeat CheckedPart(each input)))
    if constant != nil, known == nil, !isAnyChecked(repeat each input) { return nil }
    return CheckedValue { bindings in
      let expression = try constant ?? expression.evaluate(bindings)
      guard let value = constant == nil ? expression.expression.checkedInside() : known else {
        return try expression.evaluate(repeat try (each input).value.evaluate(bindings))
      }
      let variable = expression.variable
      return try value.evaluate(PredicateBindings(repeat (each variable, try (each input).value.evaluate(bindings))))
    }
  }
}

#if canImport(Darwin)
  extension PredicateExpressions.PredicateEvaluate: CheckedExpression {
    package var checked: CheckedValue<Bool>? {
      let constant = (predicate as? PredicateExpressions.Value<Condition.Output>)?.value
      let known = constant?.expression.checkedInside()
      let (predicate, input) = (CheckedPart(predicate).value, (repeat CheckedPart(each input)))
      if constant != nil, known == nil, !isAnyChecked(repeat each input) { return nil }
      return CheckedValue { bindings in
        let predicate = try constant ?? predicate.evaluate(bindings)
        guard let holds = constant == nil ? predicate.expression.checkedInside() : known else {
          return try predicate.evaluate(repeat try (each input).value.evaluate(bindings))
        }
        let variable = predicate.variable
        return try holds.evaluate(PredicateBindings(repeat (each variable, try (each input).value.evaluate(bindings))))
      }
    }
  }
#endif

private func isAnyChecked<each Output>(_ part: repeat CheckedPart<each Output>) -> Bool {
  for one in repeat each part { if one.isChecked { return true } }
  return false
}

extension PredicateBindings {
  fileprivate func binding<T>(_ variable: PredicateExpressions.Variable<T>, to value: T) -> PredicateBindings {
    var bindings = self
    bindings[variable] = value
    return bindings
  }
}
