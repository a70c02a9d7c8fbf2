import Foundation
import Testing

@testable import Concord

/// With numbers that operators trap on.
private struct Sample: Identifiable, Equatable {
  let id: Int
  var whole = 0
  var tiny: Int8 = -128
  var unsigned: UInt8 = 0
  var low = 5
  var high = 1
  var real = Double.nan
  var list = [0]
  var optional: Int? = 0
  var table: [Int: Int] = [:]
  var text = "a"

  static let bad = Sample(id: 0)
  static let good = Sample(
    id: 2, whole: 2, tiny: 3, unsigned: 9, low: 1, high: 7, real: 7, list: [2, 3, 4, 5, 6, 7], optional: 3,
    table: [5: 1])
}

/// A number that counts how often it is asked for its checked form.
private struct CountedNumber: CheckedExpression {
  final class Count { var value = 0 }

  let asked = Count()
  let isChecked: Bool

  var checked: CheckedValue<Int>? {
    asked.value += 1
    return isChecked ? CheckedValue { _ in 1 } : nil
  }

  func evaluate(_ bindings: PredicateBindings) throws -> Int { 1 }
}

extension Bool {
  fileprivate var number: Int { self ? 1 : 0 }
}

extension Int? {
  fileprivate var number: Int { self ?? 0 }
}

/// A place in a part that consists of several.
private enum Place: CaseIterable {
  case test, trueBranch, falseBranch, wrapped, transform, sequence, contains, allSatisfy, filter, dictionaryKey
  case dictionaryDefault, input, lhs, rhs, calculated, lower

  /// Returns a number made of a part that has another one at the place.
  func around(_ part: some PredicateExpression<Int>) -> any PredicateExpression<Int> {
    typealias Make = PredicateExpressions
    let one = Make.Value(1)
    let list = Make.Value([1])
    let isOne = Make.Equal(lhs: part, rhs: one)
    return switch self {
    case .test: Make.Conditional(test: isOne, trueBranch: one, falseBranch: one)
    case .trueBranch: Make.Conditional(test: Make.Value(true), trueBranch: part, falseBranch: one)
    case .falseBranch: Make.Conditional(test: Make.Value(false), trueBranch: one, falseBranch: part)
    case .wrapped: number(Make.build_flatMap(Make.ConditionalCast<_, Int>(part)) { $0 })
    case .transform: number(Make.build_flatMap(Make.Value(Int?.some(1))) { _ in part })
    case .sequence: number(Make.build_contains(Make.build_filter(list) { _ in isOne }) { _ in Make.Value(true) })
    case .contains: number(Make.build_contains(list) { _ in isOne })
    case .allSatisfy: number(Make.build_allSatisfy(list) { _ in isOne })
    case .filter: Make.KeyPath(root: Make.build_filter(list) { _ in isOne }, keyPath: \.count)
    case .dictionaryKey: Make.build_subscript(Make.Value([1: 1]), part, default: one)
    case .dictionaryDefault: Make.build_subscript(Make.Value([2: 1]), one, default: part)
    case .input: Make.build_evaluate(Make.Value(#Expression<Int, Int> { $0 }), part)
    case .lhs: number(Make.Conjunction(lhs: isOne, rhs: Make.Value(true)))
    case .rhs: number(Make.Disjunction(lhs: Make.Value(false), rhs: isOne))
    case .calculated: Make.Arithmetic(lhs: Make.Arithmetic(lhs: part, rhs: one, op: .add), rhs: one, op: .subtract)
    case .lower: number(Make.RangeExpressionContains(range: Make.ClosedRange(lower: part, upper: one), element: one))
    }
  }

  private func number(_ part: some PredicateExpression<Bool>) -> any PredicateExpression<Int> {
    PredicateExpressions.KeyPath(root: part, keyPath: \.number)
  }

  private func number(_ part: some PredicateExpression<Int?>) -> any PredicateExpression<Int> {
    PredicateExpressions.KeyPath(root: part, keyPath: \.number)
  }

  func around(_ part: any PredicateExpression<Int>, times: Int) -> any PredicateExpression<Int> {
    var nest = part
    for _ in 0..<times { nest = around(nest) }
    return nest
  }
}

@Suite("Predicates whose operators have no result")
struct CheckedPredicateTests {
  private static let (zero, most) = (0, Int.max)

  private static let trapping: [String: Predicate<Sample>] = [
    "/": #Predicate { 10 / $0.whole > 0 }, "%": #Predicate { 10 % $0.whole > 0 },
    "+": #Predicate { most + $0.whole + 1 > 0 || $0.whole == 2 }, "-": #Predicate { $0.unsigned - 1 > 0 },
    "*": #Predicate { most * ($0.whole - 2) != 1 }, "minus": #Predicate { -$0.tiny > 0 },
    "...": #Predicate { ($0.low...$0.high).contains(3) }, "..<": #Predicate { ($0.low..<$0.high).contains(3) },
    "NaN": #Predicate { (0.0...$0.real).contains(3) }, "contains": #Predicate { $0.list.contains { 10 / $0 > 1 } },
    "allSatisfy": #Predicate { $0.list.allSatisfy { 10 / $0 > 1 } },
    "filter": #Predicate { $0.list.filter { 10 / $0 > 1 }.count > 0 },
    "flatMap": #Predicate { $0.optional.flatMap { 10 / $0 } == 3 },
    "if let": #Predicate { sample in if let number = sample.optional { 10 / number > 2 } else { false } },
    "??": #Predicate { 10 / ($0.optional ?? 0) > 1 }, "!": #Predicate { !(10 / $0.whole == 3) },
    "? :": #Predicate { ($0.whole > 0 ? 1 : 10 / $0.whole) > 0 },
    "constant": #Predicate { $0.whole != 2 && 1 / zero > 0 },
    "&&": #Predicate { $0.id == $0.id && 10 / $0.whole != 0 }, "||": #Predicate { $0.id == 7 || 10 / $0.whole != 0 },
    "[]": #Predicate { $0.list[10 / $0.whole] > 0 }, "[key]": #Predicate { $0.table[10 / $0.whole] == 1 },
    "[key, default]": #Predicate { $0.table[10 / $0.whole, default: 3] == 1 },
    "element": #Predicate { $0.list.contains(10 / $0.whole) },
    "starts": #Predicate { $0.list.starts(with: $0.list.filter { 10 / $0 > 1 }) },
    "max": #Predicate { $0.list.filter { 10 / $0 > 1 }.max() == 1 },
    "count": #Predicate { $0.text.count * most - most != most - 1 && 10 / $0.whole == 5 },
  ]

  @Test("What Swift traps on throws, wherever it stands", arguments: trapping.keys.sorted())
  func failures(_ name: String) throws {
    let predicate = try #require(Self.trapping[name])
    let checked = CheckedPredicate(predicate)
    #expect(throws: ArithmeticFailure.self) { try checked.evaluate(.bad) }
    guard name != "*", name != "count" else { return }
    // Foundation evaluates what has a result.
    if name != "+" { #expect(try checked.evaluate(.good) == predicate.evaluate(.good)) }
  }

  @Test("A part is asked once, however deep it stands in others", arguments: Place.allCases, [false, true])
  fileprivate func nests(_ place: Place, _ isChecked: Bool) throws {
    let number = CountedNumber(isChecked: isChecked)
    let nest = place.around(number, times: 10)
    let checked = nest.checkedInside()
    #expect(number.asked.value == 1)
    #expect(try checked?.evaluate(PredicateBindings()) ?? 1 == nest.evaluate(PredicateBindings()))
  }

  @Test("A division is found within 40 conditionals", .timeLimit(.minutes(1)))
  func deepConditionals() throws {
    let division = PredicateExpressions.IntDivision(
      lhs: PredicateExpressions.Value(10), rhs: PredicateExpressions.Value(0))
    let checked = Place.trueBranch.around(division, times: 40).checkedInside()
    #expect(throws: ArithmeticFailure.self) { try checked?.evaluate(PredicateBindings()) }
  }

  @Test("A query over the store leaves out what its predicate has no answer for")
  func queries() throws {
    let store = EntityStore(delivery: .immediate)
    let kept = [Sample.bad, Sample.good].map { store.store($0) }
    for (name, predicate) in Self.trapping {
      let found = store.query(Sample.self, where: predicate).value.map(\.id)
      #expect(!found.contains(0), "\(name)")
    }
    #expect(store.query(Sample.self, where: #Predicate { 10 / $0.whole > 0 }).value.map(\.id) == [2])
    withExtendedLifetime(kept) {}
  }

  @Test("Calculations give what Swift's operators give, or an error that says which one failed")
  func calculations() throws {
    func result(_ operation: CheckedArithmetic, _ a: Int8, _ b: Int8) -> String {
      do { return "\(try operation.result(a, b))" } catch { return "\(error)" }
    }
    #expect(result(.add, 100, 27) == "127" && result(.add, 100, 28) == "100 + 28 does not fit into Int8")
    #expect(result(.subtract, -100, 29) == "-100 - 29 does not fit into Int8")
    #expect(result(.multiply, 16, 8) == "16 * 8 does not fit into Int8")
    #expect(result(.divide, 7, 0) == "7 / 0 is a division by zero" && result(.divide, 7, -2) == "-3")
    #expect(result(.divide, -128, -1) == "-128 / -1 does not fit into Int8")
    #expect(result(.remainder, 7, 0) == "7 % 0 is a division by zero" && result(.remainder, -7, 2) == "-1")
  }
}
