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
  let (first, second) = (a.checkedInside(), b.checkedInside())
  if first == nil, second == nil { return nil }
  return CheckedValue(make(first ?? a.checkedOrSame(), second ?? b.checkedOrSame()).evaluate)
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

/// What an operator does with numbers of a type; `nil` if these have no greatest number.
private func calculation<T>(_ type: T.Type, _ operation: CheckedArithmetic) -> ((T, T) throws -> T)? {
  func calculation<N: FixedWidthInteger>(_ type: N.Type) -> Any {
    { (a: N, b: N) throws -> N in try operation.result(a, b) }
  }
  return (type as? any FixedWidthInteger.Type).flatMap { calculation($0) as? (T, T) throws -> T }
}

private func calculated<A: PredicateExpression, B: PredicateExpression>(
  _ a: A, _ b: B, _ calculate: @escaping (A.Output, A.Output) throws -> A.Output
) -> CheckedValue<A.Output> where A.Output == B.Output {
  let (a, b) = (a.checkedOrSame(), b.checkedOrSame())
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
  let (lower, upper) = (lower.checkedOrSame(), upper.checkedOrSame())
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
    if test.checkedInside() == nil, trueBranch.checkedInside() == nil, falseBranch.checkedInside() == nil { return nil }
    return CheckedValue(
      PredicateExpressions.Conditional(
        test: test.checkedOrSame(), trueBranch: trueBranch.checkedOrSame(), falseBranch: falseBranch.checkedOrSame()
      ).evaluate)
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
    guard wrapped.checkedInside() != nil || transform.checkedInside() != nil else { return nil }
    let (wrapped, transform, variable) = (wrapped.checkedOrSame(), transform.checkedOrSame(), variable)
    return CheckedValue { bindings in
      guard let value = try wrapped.evaluate(bindings) else { return nil }
      // The result of the closure may be optional itself.
      return try transform.evaluate(bindings.binding(variable, to: value)) as? Result
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
  guard elements.checkedInside() != nil || test.checkedInside() != nil else { return nil }
  let (elements, test) = (elements.checkedOrSame(), test.checkedOrSame())
  return CheckedValue { bindings in
    try make(elements.evaluate(bindings)) { try test.evaluate(bindings.binding(variable, to: $0)) }
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
    if wrapped.checkedInside() == nil, key.checkedInside() == nil, `default`.checkedInside() == nil { return nil }
    return CheckedValue(
      PredicateExpressions.DictionaryKeyDefaultValueSubscript(
        wrapped: wrapped.checkedOrSame(), key: key.checkedOrSame(), default: `default`.checkedOrSame()
      ).evaluate)
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

// MARK: Other predicates

extension PredicateExpressions.ExpressionEvaluate: CheckedExpression {
  package var checked: CheckedValue<Output>? {
    let constant = (expression as? PredicateExpressions.Value<Transformation.Output>)?.value
    let known = constant?.expression.checkedInside()
    if constant != nil, known == nil, !isAnyChecked(repeat each input) { return nil }
    let (expression, input) = (expression.checkedOrSame(), (repeat (each input).checkedOrSame()))
    return CheckedValue { bindings in
      let expression = try constant ?? expression.evaluate(bindings)
      guard let value = known ?? expression.expression.checkedInside() else {
        return try expression.evaluate(repeat try (each input).evaluate(bindings))
      }
      let variable = expression.variable
      return try value.evaluate(PredicateBindings(repeat (each variable, try (each input).evaluate(bindings))))
    }
  }
}

#if canImport(Darwin)
  extension PredicateExpressions.PredicateEvaluate: CheckedExpression {
    package var checked: CheckedValue<Bool>? {
      let constant = (predicate as? PredicateExpressions.Value<Condition.Output>)?.value
      let known = constant?.expression.checkedInside()
      if constant != nil, known == nil, !isAnyChecked(repeat each input) { return nil }
      let (predicate, input) = (predicate.checkedOrSame(), (repeat (each input).checkedOrSame()))
      return CheckedValue { bindings in
        let predicate = try constant ?? predicate.evaluate(bindings)
        guard let holds = known ?? predicate.expression.checkedInside() else {
          return try predicate.evaluate(repeat try (each input).evaluate(bindings))
        }
        let variable = predicate.variable
        return try holds.evaluate(PredicateBindings(repeat (each variable, try (each input).evaluate(bindings))))
      }
    }
  }
#endif

private func isAnyChecked<each Part: PredicateExpression>(_ part: repeat each Part) -> Bool {
  for one in repeat each part { if one.checkedInside() != nil { return true } }
  return false
}

extension PredicateBindings {
  fileprivate func binding<T>(_ variable: PredicateExpressions.Variable<T>, to value: T) -> PredicateBindings {
    var bindings = self
    bindings[variable] = value
    return bindings
  }
}
