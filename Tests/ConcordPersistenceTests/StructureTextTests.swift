import Foundation
import Testing

@testable import ConcordPersistence

@Suite("The text of a predicate's structure")
struct StructureTextTests {
  private typealias Condition = any StandardPredicateExpression<Bool>

  /// A condition of many parts: each one joined to those before, as a loop joins them.
  private func predicate(_ titles: [String]) -> Predicate<Book> {
    Predicate<Book> { book in
      func isTitle(_ title: String) -> Condition {
        PredicateExpressions.build_Equal(
          lhs: PredicateExpressions.build_KeyPath(root: book, keyPath: \.title),
          rhs: PredicateExpressions.build_Arg(title))
      }
      func either<A: StandardPredicateExpression<Bool>, B: StandardPredicateExpression<Bool>>(
        _ a: A, _ b: B
      ) -> Condition { PredicateExpressions.build_Disjunction(lhs: a, rhs: b) }
      var condition = isTitle(titles.first ?? "")
      for title in titles.dropFirst() {
        let next = isTitle(title)
        condition = either(condition, next)
      }
      return condition
    }
  }

  private func text(_ value: Any) -> String {
    var text = StructureText()
    text.add(value)
    return text.text
  }

  @Test("Predicates of many parts have equal texts if they are equal, wherever they differ", arguments: [2, 120, 300])
  func deep(_ count: Int) throws {
    let titles = (0..<count).map { "\($0)" }
    let model = try libraryModel()
    func fingerprint(_ titles: [String]) throws -> String { try RowPredicate(predicate(titles), in: model).fingerprint }
    #expect(try fingerprint(titles) == fingerprint(titles) && text(predicate(titles)) == text(predicate(titles)))
    for place in [0, count / 2, count - 1] {
      var others = titles
      others[place] = "other"
      #expect(try fingerprint(titles) != fingerprint(others), "\(place)")
      #expect(text(predicate(titles)) != text(predicate(others)), "\(place)")
    }
  }

  @Test("A text is at most some times as long as what it is of")
  func length() {
    let lengths = [50, 200].map { count in text(predicate((0..<count).map { "\($0)" })).utf8.count }
    #expect(lengths[1] < lengths[0] * 5, "\(lengths)")
  }

  @Test("Values that cannot be looked into are told apart as they describe themselves")
  func single() {
    let character: (Character, Character) = ("a", "b")
    #expect(text(character.0) != text(character.1) && text(character.0) == text("a" as Character))
    #expect(text([1: "a", 2: "b"]) == text([2: "b", 1: "a"]) && text([1: "a"]) != text([1: "b"]))
    #expect(text([Int]()) != text([String]()) && text(Int?.none as Any) != text(Int?.some(0) as Any))
    #expect(text(["a,b"]) != text(["a", "b"]) && text([["a"], ["b"]]) != text([["a", "b"]]))
  }

  private struct Tagged<Tag> { var value = 1 }

  @Test("Types that nothing is of are told apart")
  func types() {
    func check<Desired>(_ type: Desired.Type) -> [String] {
      let input = PredicateExpressions.build_Arg(1 as Int)
      return [
        text(PredicateExpressions.TypeCheck<_, Desired>(input)),
        text(PredicateExpressions.ConditionalCast<_, Desired>(input)),
        text(PredicateExpressions.ForceCast<_, Desired>(input)),
      ]
    }
    #expect(Set(check(Int.self) + check(String.self) + check([String].self)).count == 9)
    #expect(check(String.self) == check(String.self))
    #expect(text(Tagged<Int>()) != text(Tagged<String>()))
  }

  @Test("Objects that refer to each other end")
  func cycle() {
    final class Node { var next: Node? }
    let node = Node()
    node.next = node
    #expect(!text(node).isEmpty)
    node.next = nil
  }
}
