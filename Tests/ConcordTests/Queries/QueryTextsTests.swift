import Concord
import Foundation
import Testing

/// The standard library's `<` contradicts itself on some texts that are composed differently. A query for a range finds what its condition does.
@Suite("Queries for ranges of texts that no order has")
struct QueryTextsTests {
  private struct Named: Identifiable, Equatable {
    let id: Int
    var name: String

    // By scalars: texts that are canonically equal are others to `<` than each other.
    static func == (a: Self, b: Self) -> Bool {
      a.id == b.id && a.name.unicodeScalars.elementsEqual(b.name.unicodeScalars)
    }
  }

  private let store = EntityStore(delivery: .immediate)

  private func query(_ predicate: Predicate<Named>) -> EntityObserver<EntityResults<Named>> {
    store.query(Named.self, where: predicate)
  }

  @Test("Bounds that are equal as texts are bounds of their own")
  func equalBounds() {
    let (decomposed, composed) = ("e\u{301}", "\u{E9}")
    let queries = [
      query(#Predicate { $0.name > decomposed }), query(#Predicate { $0.name > composed }),
      query(#Predicate { $0.name <= decomposed }), query(#Predicate { $0.name <= composed }),
    ]
    #expect(queries.map(\.value.count) == [0, 0, 0, 0])
    let name = "\u{E9}b"
    let kept = store.store(Named(id: 1, name: name))
    let expected = [name > decomposed, name > composed, name <= decomposed, name <= composed]
    #expect(queries.map(\.value.count) == expected.map { $0 ? 1 : 0 })
    withExtendedLifetime(kept) {}
  }

  @Test("Bounds of which neither precedes the other are not taken for one")
  func unorderedBounds() {
    let (first, second) = ("e\u{301}", "\u{E9}a")
    let queries = [query(#Predicate { $0.name > first }), query(#Predicate { $0.name > second })]
    #expect(queries.map(\.value.count) == [0, 0])
    for (id, name) in ["\u{E9}", "e\u{301}", "\u{E9}a", "e\u{301}a", "\u{E9}Z", "\u{E9}b"].enumerated() {
      let kept = store.store(Named(id: id, name: name))
      #expect(queries.map(\.value.count) == [name > first, name > second].map { $0 ? 1 : 0 }, "\(id)")
      withExtendedLifetime(kept) {}
    }
  }

  @Test("A text becomes one that equals it, and is another to a range")
  func equalTexts() {
    let bound = "\u{E9}a"
    let queries = [query(#Predicate { $0.name < bound }), query(#Predicate { $0.name >= bound })]
    let kept = store.store(Named(id: 1, name: "\u{E9}"))
    for name in ["\u{E9}", "e\u{301}", "\u{E9}", "e\u{301}"] {
      store.update(Named.self, id: 1) { $0.name = name }
      #expect(queries.map(\.value.count) == [name < bound, name >= bound].map { $0 ? 1 : 0 })
    }
    withExtendedLifetime(kept) {}
  }

  /// Parts of texts: some combine, some are canonically equal, some are put into another order.
  private static let parts = [
    "", "e", "\u{E9}", "\u{301}", "e\u{301}", "a", "b", "z", "\u{0}", "\u{8}", "\u{323}", "\u{307}", "\u{1E69}",
    "s\u{307}\u{323}", "\u{C5}", "A\u{30A}", "\u{212B}", "\u{AC00}", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC01}",
    "\u{E01}", "\u{915}\u{93C}", "\u{958}", "\u{65E5}", "\u{1F600}", "\u{FB1D}", "\u{2126}", "\u{3A9}", "\u{37E}", ";",
  ]

  private static func text(_ random: inout SeededGenerator) -> String {
    (0..<random.below(4)).map { _ in parts[random.below(parts.count)] }.joined()
  }

  private static func form(
    _ random: inout SeededGenerator
  ) -> (words: String, predicate: Predicate<Named>, isIncluded: (String) -> Bool) {
    let (a, b) = (text(&random), text(&random))
    func words(_ relation: String) -> String { "\(relation) \(a.debugDescription) \(b.debugDescription)" }
    switch random.below(8) {
    case 0: return (words("<"), #Predicate { $0.name < a }, { $0 < a })
    case 1: return (words("<="), #Predicate { $0.name <= a }, { $0 <= a })
    case 2: return (words(">"), #Predicate { $0.name > a }, { $0 > a })
    case 3: return (words(">="), #Predicate { a <= $0.name }, { a <= $0 })
    case 4: return (words(">= <"), #Predicate { $0.name >= a && $0.name < b }, { $0 >= a && $0 < b })
    case 5: return (words("> <="), #Predicate { $0.name > a && b >= $0.name }, { $0 > a && b >= $0 })
    case 6:
      let range = a...
      return (words("from"), #Predicate { range.contains($0.name) }, { range.contains($0) })
    default:
      let range = b < a ? ClosedRange(uncheckedBounds: (b, a)) : ClosedRange(uncheckedBounds: (a, b))
      return (words("in"), #Predicate { range.contains($0.name) }, { range.contains($0) })
    }
  }

  static var seeds: Range<UInt64> { TestOptions.seeds(TestOptions.isLong ? 400 : 20) }

  @Test("Random texts and bounds, beside the condition itself")
  func random() {
    for seed in Self.seeds {
      var random = SeededGenerator(seed: seed)
      let store = EntityStore(delivery: .immediate)
      var kept: [Int: EntityObserver<Named>] = [:]
      var queries = (0..<30).map { _ in
        let form = Self.form(&random)
        return (form: form, query: store.query(Named.self, where: form.predicate))
      }
      for step in 0..<80 {
        let id = random.below(6)
        switch random.below(8) {
        case 0: kept[id] = nil
        case 1: store.remove(Named.self, id: id)
        case 2:
          let form = Self.form(&random)
          queries[random.below(queries.count)] = (form: form, query: store.query(Named.self, where: form.predicate))
        case 3, 4: kept[id] = store.store(Named(id: id, name: Self.text(&random)))
        default:
          let name = Self.text(&random)
          store.update(Named.self, id: id) { $0.name = name }
        }
        let all = store.all(Named.self).sorted { $0.id < $1.id }
        for (form, query) in queries where random.chance(40) {
          let (found, expected) = (query.value.map(\.id), all.filter { form.isIncluded($0.name) }.map(\.id))
          guard found == expected else {
            let names = all.map(\.name.debugDescription)
            Issue.record(
              "CONCORD_RANDOM_SEED=\(seed), step \(step): \(form.words): \(found), not \(expected) of \(names)")
            return
          }
        }
      }
    }
  }
}
