import Testing

@testable import Concord

/// What undoing does in a collection that others have changed, too.
@Suite("Undo of elements")
struct UndoElementsTests {
  private struct Part: Identifiable, Equatable {
    let id: Int
    var text = ""
  }

  /// The ids of a collection before a step, after it, after what others have done, and after the step is undone.
  struct Case: CustomTestStringConvertible {
    let before, step, others, undone: [Int]
    var isPartial = false
    var testDescription: String { "\(before), \(step), \(others)" }
  }

  static let cases: [Case] = [
    // Behind the nearest of those that stood before it.
    Case(before: [1, 2, 3, 4], step: [1, 2, 3], others: [1, 2, 3, 9], undone: [1, 2, 3, 4, 9]),
    Case(before: [1, 2, 3], step: [1, 3], others: [3, 9, 1], undone: [3, 9, 1, 2]),
    // Others have taken that one out, or none did.
    Case(before: [1, 2, 3, 4], step: [1, 2, 4], others: [1, 4, 9], undone: [1, 3, 4, 9]),
    Case(before: [1, 2, 3], step: [3], others: [9, 3], undone: [1, 2, 9, 3]),
    // Behind one that is put back itself.
    Case(before: [1, 2, 3, 4], step: [1, 4], others: [1, 9, 4], undone: [1, 2, 3, 9, 4]),
    // Others have put one back.
    Case(before: [1, 2, 3], step: [1], others: [1, 3], undone: [1, 2, 3]),
    // What the step has added goes, wherever it stands.
    Case(before: [1, 2], step: [1, 5, 2, 6], others: [6, 1, 9, 5, 2], undone: [1, 9, 2]),
    // The order of those that both have is as before, in the places that they have now.
    Case(before: [1, 2, 3], step: [3, 1, 2], others: [3, 1, 2, 9], undone: [1, 2, 3, 9]),
    Case(before: [1, 2, 3], step: [3, 1, 2], others: [3, 9, 1, 2], undone: [1, 9, 2, 3]),
    Case(before: [1, 2, 3], step: [3, 1], others: [3, 9, 1], undone: [1, 2, 9, 3]),
    Case(before: [1, 2, 3, 4], step: [4, 3, 2, 1], others: [9, 4, 2, 1], undone: [9, 1, 2, 4]),
    // It stays as others have made it since.
    Case(before: [1, 2, 3, 4], step: [3, 1, 2], others: [2, 3, 1], undone: [2, 3, 4, 1], isPartial: true),
  ]

  @Test("An element is put back beside its neighbour, and what others have done stays", arguments: cases)
  func neighbours(_ test: Case) throws {
    func parts(_ ids: [Int]) -> [Part] { ids.map { Part(id: $0) } }
    var current = parts(test.others)
    let reversal = try #require(
      ElementReversal.revert(from: parts(test.step), to: parts(test.before), in: &current))
    #expect(current.map(\.id) == test.undone && reversal.isPartial == test.isPartial && reversal.hasChanged)
  }

  @Test("An element that the step changed is as before, unless others have changed it")
  func changedElements() throws {
    var current = [Part(id: 3), Part(id: 1, text: "mine"), Part(id: 2, text: "theirs")]
    let before = [Part(id: 1, text: "before"), Part(id: 2, text: "before")]
    let step = [Part(id: 1, text: "mine"), Part(id: 2, text: "mine")]
    let reversal = try #require(ElementReversal.revert(from: step, to: before, in: &current))
    #expect(current == [Part(id: 3), Part(id: 1, text: "before"), Part(id: 2, text: "theirs")])
    #expect(reversal.hasChanged && reversal.isPartial)
    // Ids that are there twice are not told apart.
    var twice = [Part(id: 1), Part(id: 1)]
    #expect(ElementReversal.revert(from: step, to: before, in: &twice) == nil)
  }

  @Test("An element that the step changed stays out if others have taken it out")
  func changedAndGone() throws {
    var current = [Part(id: 2, text: "mine")]
    let before = [Part(id: 1, text: "before"), Part(id: 2, text: "before"), Part(id: 3)]
    let step = [Part(id: 1, text: "mine"), Part(id: 2, text: "mine"), Part(id: 3)]
    let reversal = try #require(ElementReversal.revert(from: step, to: before, in: &current))
    #expect(current == [Part(id: 2, text: "before")] && reversal.hasChanged && reversal.isPartial)
    current = []
    let nothing = try #require(ElementReversal.revert(from: step, to: before, in: &current))
    #expect(current == [] && !nothing.hasChanged && nothing.isPartial)
    // What the step has left as it was is none of its changes.
    current = [Part(id: 1, text: "mine"), Part(id: 2, text: "mine")]
    let whole = try #require(ElementReversal.revert(from: step, to: before, in: &current))
    #expect(current.map(\.text) == ["before", "before"] && whole.hasChanged && !whole.isPartial)
  }

  @Test("An element that the step added stays if others have changed it since")
  func changedInsertions() throws {
    var current = [Part(id: 1), Part(id: 3, text: "theirs"), Part(id: 2, text: "mine")]
    let reversal = try #require(
      ElementReversal.revert(
        from: [Part(id: 1), Part(id: 2, text: "mine"), Part(id: 3, text: "mine")], to: [Part(id: 1)], in: &current))
    #expect(current == [Part(id: 1), Part(id: 3, text: "theirs")] && reversal.hasChanged && reversal.isPartial)
    let undone = current
    let again = try #require(
      ElementReversal.revert(from: [Part(id: 1), Part(id: 3, text: "mine")], to: [Part(id: 1)], in: &current))
    #expect(current == undone && !again.hasChanged && again.isPartial)
    // As where the step took it out and undoing has put it back.
    current = [Part(id: 3, text: "theirs")]
    let back = try #require(
      ElementReversal.revert(from: [], to: [Part(id: 3, text: "before"), Part(id: 4)], in: &current))
    #expect(current.map(\.text) == ["theirs", ""] && back.hasChanged && back.isPartial)
    // Inside of an optional.
    var optional: [Part]? = [Part(id: 3, text: "theirs")]
    let inside = try #require(ElementReversal.revert(from: [Part(id: 3)] as [Part]?, to: [], in: &optional))
    #expect(optional?.count == 1 && !inside.hasChanged && inside.isPartial)
  }

  @Test("Elements of a set are told apart by their ids, so that none stands there twice")
  func sets() throws {
    struct Mark: Identifiable, Hashable {
      let id: Int
      var text: String
    }
    func marks(_ texts: [Int: String]) -> Set<Mark> { Set(texts.map { Mark(id: $0, text: $1) }) }
    var current = marks([1: "theirs", 2: "mine", 3: "mine", 4: "theirs", 5: "others"])
    let reversal = try #require(
      ElementReversal.revert(
        from: marks([1: "mine", 2: "mine", 3: "mine", 4: "mine"]), to: marks([1: "before", 2: "before"]), in: &current))
    #expect(current == marks([1: "theirs", 2: "before", 4: "theirs", 5: "others"]))
    #expect(reversal.hasChanged && reversal.isPartial)
    // Others have only added.
    current = marks([1: "before", 2: "mine", 5: "others"])
    let whole = try #require(
      ElementReversal.revert(from: marks([2: "mine"]), to: marks([3: "before"]), in: &current))
    #expect(current == marks([1: "before", 3: "before", 5: "others"]) && whole.hasChanged && !whole.isPartial)
  }

  @Test("Putting all elements back costs their number")
  func cost() throws {
    func comparisons(_ count: Int) throws -> Int {
      let counter = Locked(0)
      let before = (0..<count).map { CountedPart(id: .init(number: $0, comparisons: counter)) }
      var current = [CountedPart(id: .init(number: count, comparisons: counter))]
      let reversal = try #require(ElementReversal.revert(from: [], to: before, in: &current))
      #expect(reversal.hasChanged && current.count == count + 1)
      return counter.withLock { $0 }
    }
    let (few, many) = (try comparisons(500), try comparisons(1_000))
    #expect(many <= 3 * few + 100, "\(few), \(many)")
  }

  private struct CountedPart: Identifiable {
    struct ID: Hashable, Sendable {
      let number: Int
      let comparisons: Locked<Int>

      static func == (a: Self, b: Self) -> Bool {
        a.comparisons.withLock { $0 += 1 }
        return a.number == b.number
      }
      func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }
    let id: ID
  }
}
