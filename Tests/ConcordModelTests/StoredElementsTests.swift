import Foundation
import Testing

@testable import ConcordModel

@Suite("Elements of stored collections")
struct StoredElementsTests {
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  /// Few values, so that many are equal: integers only, or any.
  private func value(_ isInteger: Bool, _ random: inout Numbers) -> StoredValue {
    let number = Int.random(in: 0..<3, using: &random)
    switch isInteger ? 0 : Int.random(in: 0..<5, using: &random) {
    case 0, 1: return .integer(Int64(number))
    case 2: return .text("a text that is kept on the heap, \(number)")
    case 3: return .blob(Data([UInt8(number)]))
    default: return number == 0 ? .null : .real(Double(number))
    }
  }

  /// What all readers see.
  private func expect(_ elements: StoredElements, _ wanted: [[StoredValue]], _ width: Int, _ seed: UInt64) {
    #expect(elements.map { Array($0) } == wanted && elements.count == wanted.count, "seed \(seed)")
    #expect(elements.isEmpty == wanted.isEmpty && elements.description == "\(wanted)", "seed \(seed)")
    #expect(wanted.isEmpty || elements.width == width, "seed \(seed)")
    for position in 0..<width where !wanted.isEmpty {
      #expect(Array(elements.column(position)) == wanted.map { $0[position] }, "seed \(seed)")
    }
    for (index, element) in wanted.enumerated() {
      #expect(element.indices.allSatisfy { elements[index, $0] == element[$0] }, "seed \(seed)")
      #expect(elements[index] == StoredElements.Element(element), "seed \(seed)")
    }
    let again = StoredElements(wanted.map { StoredElements.Element($0) })
    #expect(again == elements && again.hashValue == elements.hashValue, "seed \(seed)")
  }

  @Test("Random edits leave what they leave in arrays, and an earlier copy as it was", arguments: 1...3)
  func edits(_ width: Int) {
    let seed = UInt64.random(in: 0..<1_000_000)
    var random = Numbers(state: seed)
    for round in 0..<60 {
      // A collection of integers, of anything, or first the one and then the other.
      var isInteger = round % 3 != 0
      var (elements, wanted) = (StoredElements(width: width), [[StoredValue]]())
      func element(_ isInteger: Bool, _ random: inout Numbers) -> [StoredValue] {
        (0..<width).map { _ in value(isInteger, &random) }
      }
      for step in 0..<30 {
        if round % 3 == 2, step == 15 { isInteger = false }
        let (copy, before) = (elements, wanted)
        let new = element(isInteger, &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1:
          elements.append { new[$0] }
          wanted.append(new)
        case 2:
          let index = Int.random(in: 0...wanted.count, using: &random)
          elements.insert(StoredElements.Element(new), at: index)
          wanted.insert(new, at: index)
        case 3:
          elements.removeAll { $0.first == new.first }
          wanted.removeAll { $0.first == new.first }
        case 4:
          let end = Int.random(in: 0...wanted.count, using: &random)
          let range = Int.random(in: 0...end, using: &random)..<end
          let others = (0..<Int.random(in: 0..<3, using: &random)).map { _ in element(isInteger, &random) }
          elements.replaceSubrange(range, with: others.map { StoredElements.Element($0) })
          wanted.replaceSubrange(range, with: others)
        case 5:
          guard let index = wanted.indices.randomElement(using: &random) else { continue }
          let position = Int.random(in: 0..<width, using: &random)
          elements[index, position] = new[position]
          wanted[index][position] = new[position]
        default:
          elements.append(contentsOf: elements.prefix(2))
          wanted.append(contentsOf: wanted.prefix(2))
        }
        expect(elements, wanted, width, seed)
        #expect(copy.map { Array($0) } == before && (copy == elements) == (before == wanted), "seed \(seed)")
        let same = zip(before, wanted).prefix { $0 == $1 }.count
        #expect(elements.countOfSameElements(at: copy) == same, "seed \(seed)")
        #expect(copy.countOfSameElements(at: elements) == same, "seed \(seed)")
      }
    }
  }

  @Test("Equal collections are equal however their values are kept")
  func kept() {
    let integers: StoredElements = [[.integer(1)], [.integer(2)]]
    var mixed: StoredElements = [[.text("a")], [.integer(2)]]
    mixed[0, 0] = .integer(1)
    #expect(mixed == integers && integers == mixed && mixed.hashValue == integers.hashValue)
    #expect(mixed.countOfSameElements(at: integers) == 2 && integers.countOfSameElements(at: mixed) == 2)
    #expect(StoredElements(width: 3) == [] && StoredElements(width: 3).hashValue == StoredElements().hashValue)
    // As many values, in elements of another width.
    let pair: StoredElements = [[.integer(1), .integer(2)]]
    #expect(pair != integers && pair.countOfSameElements(at: integers) == 0)
    func row(_ elements: StoredElements) -> StoredRow { StoredRow(values: [], collections: [elements], stamp: 1) }
    #expect(
      row(mixed) == row(integers) && row(mixed).hashValue == row(integers).hashValue && row(pair) != row(integers))
  }

  @Test("Elements of several widths have that of the longest, and no value is lost")
  func widths() {
    let ragged: StoredElements = [[.integer(1)], [.text("a"), .integer(2)], []]
    #expect(ragged == [[.integer(1), .null], [.text("a"), .integer(2)], [.null, .null]])
    var elements: StoredElements = [[.integer(1), .integer(2)], [.integer(3), .integer(4)]]
    elements.insert([.integer(5)], at: 1)
    #expect(elements == [[.integer(1), .integer(2)], [.integer(5), .null], [.integer(3), .integer(4)]])
    elements.replaceSubrange(0..<1, with: [[.integer(6), .integer(7), .integer(8)]])
    #expect(elements.width == 3 && elements[1] == [.integer(5), .null, .null] && elements[0, 2] == .integer(8))
    // With the last element its width goes, too.
    elements.removeAll()
    elements.append([.integer(9)])
    #expect(elements == [[.integer(9)]] && elements.width == 1)
    elements.replaceSubrange(0..<1, with: [[.null, .null]])
    #expect(elements.width == 2)
    elements.replaceSubrange(0..<1, with: [[.null]])
    #expect(elements.width == 1 && elements.count == 1)
    // A width that was told stays for shorter ones, the first, too.
    var told = StoredElements(width: 2)
    told.append([.integer(1)])
    #expect(told.width == 2 && told[0, 1] == .null)
  }

  @Test("Elements that come one at a time are copied some times, not each time")
  func growth() {
    for value: StoredValue in [.integer(1), .text("a")] {
      var elements = StoredElements()
      var capacities: Set<Int> = []
      for _ in 0..<100_000 {
        elements += [[value]]
        capacities.insert(elements.capacity)
      }
      #expect(elements.count == 100_000 && capacities.count < 40, "\(capacities.count) copies")
    }
  }

  @Test("An element whose values cannot be read is not appended")
  func throwing() {
    struct Stop: Error {}
    for first: StoredValue in [.integer(1), .text("a")] {
      var elements = StoredElements(width: 2)
      for _ in 0..<2 {
        #expect(throws: Stop.self) {
          try elements.append { if $0 == 0 { return first } else { throw Stop() } }
        }
      }
      #expect(elements.isEmpty)
      elements.append { _ in first }
      #expect(throws: Stop.self) {
        try elements.append { if $0 == 0 { return first } else { throw Stop() } }
      }
      #expect(elements == [[first, first]])
    }
  }

  @Test("An element is a view whose positions begin with 0")
  func element() {
    let elements: StoredElements = [[.text("a"), .integer(1)], [.text("b"), .integer(1)], [.text("b"), .integer(2)]]
    let last = elements[2]
    #expect(last.startIndex == 0 && last.endIndex == 2 && last[0] == .text("b") && last.last == .integer(2))
    #expect(Array(last) == [.text("b"), .integer(2)] && last.description == "['b', 2]")
    #expect(Set(elements).count == 3 && Set(elements.map { $0.leading(1) }).count == 2)
    #expect(last.leading(1) == [.text("b")] && last.leading(5) == last && last != elements[1])
  }

  @Test("Texts are equal by their bytes, wherever these are kept")
  func texts() {
    let texts = [
      "", "a", "é", "e\u{301}", "a\u{0}", "a text that is kept on the heap", "a text that is kept on the heaq",
    ]
    for (i, a) in texts.enumerated() {
      for (j, b) in texts.enumerated() {
        // Another copy, too.
        for b in [b, String(decoding: Array(b.utf8), as: UTF8.self)] {
          #expect((StoredValue.text(a) == .text(b)) == (i == j), "\(a), \(b)")
        }
      }
    }
  }
}
