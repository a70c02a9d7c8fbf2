import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

private typealias Truth = any StandardPredicateExpression<Bool>
private typealias Text = any StandardPredicateExpression<String>
private typealias Number = any StandardPredicateExpression<Int>
private typealias Real = any StandardPredicateExpression<Double>

/// Makes predicates from the whole grammar that this Foundation has.
private struct Grammar {
  var random: SeededGenerator
  let song: PredicateExpressions.Variable<Song>

  private mutating func pick<R>(_ makers: [(inout Grammar) -> R]) -> R {
    makers[Int.random(in: makers.indices, using: &random)](&self)
  }

  mutating func truth(_ depth: Int) -> Truth {
    let leaves: [(inout Grammar) -> Truth] = [
      { g in g.compare(g.text(depth - 1), g.text(depth - 1)) },
      { g in g.compare(g.number(depth - 1), g.number(depth - 1)) },
      { g in g.compare(g.real(depth - 1), g.real(depth - 1)) },
      { g in g.search(g.text(depth - 1), g.text(0)) },
      { g in g.search(g.titles(), g.constant()) },
      { g in g.compare(g.titles(), g.constant()) },
      { g in g.optional() },
      { g in g.list() },
      { g in g.isEmpty(g.text(depth - 1)) },
    ]
    if depth <= 0 { return pick(leaves) }
    let inner: [(inout Grammar) -> Truth] = [
      { g in g.and(g.truth(depth - 1), g.truth(depth - 1)) },
      { g in g.or(g.truth(depth - 1), g.truth(depth - 1)) },
      { g in g.not(g.truth(depth - 1)) },
      { g in g.elements() },
      { g in g.through() },
    ]
    return pick(leaves + inner + inner)
  }

  // MARK: Values

  private mutating func constant() -> Text { PredicateExpressions.Value(hostileText(&random)) }

  private mutating func titles() -> Text {
    Bool.random(using: &random)
      ? PredicateExpressions.KeyPath(root: song, keyPath: \Song.title)
      : PredicateExpressions.KeyPath(root: song, keyPath: \Song.text)
  }

  mutating func text(_ depth: Int) -> Text {
    let leaves: [(inout Grammar) -> Text] = [
      { g in g.titles() }, { g in g.constant() },
      { g in
        PredicateExpressions.KeyPath(
          root: PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.author), keyPath: \Singer.name)
      },
      { g in
        PredicateExpressions.NilCoalesce(
          lhs: PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.subtitle),
          rhs: PredicateExpressions.Value(hostileText(&g.random)))
      },
    ]
    if depth <= 0 { return pick(leaves) }
    return pick(leaves + [{ g in g.choice(g.truth(depth - 1), g.text(depth - 1), g.text(depth - 1)) }])
  }

  mutating func number(_ depth: Int) -> Number {
    let leaves: [(inout Grammar) -> Number] = [
      { g in PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.number) },
      { g in PredicateExpressions.Value(Int.random(in: -3...3, using: &g.random)) },
      { g in
        PredicateExpressions.KeyPath(
          root: PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.verses), keyPath: \[Verse].count)
      },
      { g in g.count(g.text(0)) },
    ]
    if depth <= 0 { return pick(leaves) }
    return pick(
      leaves + [
        { g in g.calculate(g.number(depth - 1), g.number(depth - 1)) },
        { g in g.choice(g.truth(depth - 1), g.number(depth - 1), g.number(depth - 1)) },
        { g in g.divide(g.number(depth - 1), by: g.random.pick([-2, 2, 3])) },
        { g in g.minus(g.number(depth - 1)) },
      ])
  }

  mutating func real(_ depth: Int) -> Real {
    let leaves: [(inout Grammar) -> Real] = [
      { g in PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.real) },
      { g in PredicateExpressions.Value(g.random.pick([0, -0.0, .nan, 1, -2])) },
    ]
    if depth <= 0 { return pick(leaves) }
    return pick(leaves + [{ g in g.calculate(g.real(depth - 1), g.real(depth - 1)) }])
  }

  // MARK: What is made of them

  private func count(_ text: some StandardPredicateExpression<String>) -> Number {
    PredicateExpressions.KeyPath(root: text, keyPath: \String.count)
  }

  private func isEmpty(_ text: some StandardPredicateExpression<String>) -> Truth {
    PredicateExpressions.KeyPath(root: text, keyPath: \String.isEmpty)
  }

  private mutating func compare<V: Comparable & SendableMetatype>(
    _ a: some StandardPredicateExpression<V>, _ b: some StandardPredicateExpression<V>
  ) -> Truth {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: PredicateExpressions.Equal(lhs: a, rhs: b)
    case 1: PredicateExpressions.NotEqual(lhs: a, rhs: b)
    case 2: PredicateExpressions.Comparison(lhs: a, rhs: b, op: .lessThan)
    case 3: PredicateExpressions.Comparison(lhs: a, rhs: b, op: .lessThanOrEqual)
    case 4: PredicateExpressions.Comparison(lhs: a, rhs: b, op: .greaterThan)
    default: PredicateExpressions.Comparison(lhs: a, rhs: b, op: .greaterThanOrEqual)
    }
  }

  private mutating func search(
    _ a: some StandardPredicateExpression<String>, _ b: some StandardPredicateExpression<String>
  ) -> Truth {
    Bool.random(using: &random)
      ? PredicateExpressions.CollectionContainsCollection(base: a, other: b)
      : PredicateExpressions.SequenceStartsWith(base: a, prefix: b)
  }

  private func and(
    _ a: some StandardPredicateExpression<Bool>, _ b: some StandardPredicateExpression<Bool>
  ) -> Truth { PredicateExpressions.Conjunction(lhs: a, rhs: b) }

  private func or(
    _ a: some StandardPredicateExpression<Bool>, _ b: some StandardPredicateExpression<Bool>
  ) -> Truth { PredicateExpressions.Disjunction(lhs: a, rhs: b) }

  private func not(_ a: some StandardPredicateExpression<Bool>) -> Truth { PredicateExpressions.Negation(a) }

  private func choice<V>(
    _ test: some StandardPredicateExpression<Bool>, _ a: some StandardPredicateExpression<V>,
    _ b: some StandardPredicateExpression<V>
  ) -> any StandardPredicateExpression<V> {
    PredicateExpressions.Conditional(test: test, trueBranch: a, falseBranch: b)
  }

  private mutating func calculate<V: Numeric>(
    _ a: some StandardPredicateExpression<V>, _ b: some StandardPredicateExpression<V>
  ) -> any StandardPredicateExpression<V> {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return PredicateExpressions.Arithmetic(lhs: a, rhs: b, op: .add)
    case 1: return PredicateExpressions.Arithmetic(lhs: a, rhs: b, op: .subtract)
    default: return PredicateExpressions.Arithmetic(lhs: a, rhs: b, op: .multiply)
    }
  }

  private mutating func divide(_ a: some StandardPredicateExpression<Int>, by b: Int) -> Number {
    Bool.random(using: &random)
      ? PredicateExpressions.IntDivision(lhs: a, rhs: PredicateExpressions.Value(b))
      : PredicateExpressions.IntRemainder(lhs: a, rhs: PredicateExpressions.Value(b))
  }

  private func minus(_ a: some StandardPredicateExpression<Int>) -> Number { PredicateExpressions.UnaryMinus(a) }

  private mutating func list() -> Truth {
    let texts = (0..<3).map { _ in hostileText(&random) }
    func isIn(_ text: some StandardPredicateExpression<String>) -> Truth {
      PredicateExpressions.SequenceContains(sequence: PredicateExpressions.Value(texts), element: text)
    }
    return isIn(titles())
  }

  private mutating func optional() -> Truth {
    let subtitle = PredicateExpressions.KeyPath(root: song, keyPath: \Song.subtitle)
    let text: String? = Bool.random(using: &random) ? hostileText(&random) : nil
    if Bool.random(using: &random) {
      return PredicateExpressions.Equal(lhs: subtitle, rhs: PredicateExpressions.Value(text))
    }
    let part = hostileText(&random)
    let found = PredicateExpressions.OptionalFlatMap(subtitle) {
      PredicateExpressions.SequenceStartsWith(base: $0, prefix: PredicateExpressions.Value(part))
    }
    let wanted: Bool? = random.pick([true, false, nil])
    return PredicateExpressions.Equal(lhs: found, rhs: PredicateExpressions.Value(wanted))
  }

  /// A property of what an optional leads to.
  private mutating func through() -> Truth {
    let singer = PredicateExpressions.KeyPath(root: song, keyPath: \Song.singer)
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let name: String? = Bool.random(using: &random) ? hostileText(&random) : nil
      return PredicateExpressions.Equal(
        lhs: PredicateExpressions.OptionalFlatMap(singer) {
          PredicateExpressions.KeyPath(root: $0, keyPath: \Singer.name)
        }, rhs: PredicateExpressions.Value(name))
    case 1:
      let part = hostileText(&random)
      return PredicateExpressions.NilCoalesce(
        lhs: PredicateExpressions.OptionalFlatMap(singer) {
          PredicateExpressions.SequenceStartsWith(
            base: PredicateExpressions.KeyPath(root: $0, keyPath: \Singer.name),
            prefix: PredicateExpressions.Value(part))
        }, rhs: PredicateExpressions.Value(false))
    case 2:
      return PredicateExpressions.NotEqual(
        lhs: PredicateExpressions.OptionalFlatMap(singer) {
          PredicateExpressions.KeyPath(root: $0, keyPath: \Singer.nickname)
        }, rhs: PredicateExpressions.KeyPath(root: song, keyPath: \Song.subtitle))
    default:
      let id: String? = random.pick(["a", "\u{E9}", "e\u{301}", nil])
      return PredicateExpressions.Equal(
        lhs: PredicateExpressions.OptionalFlatMap(singer) {
          PredicateExpressions.KeyPath(root: $0, keyPath: \Singer.id)
        }, rhs: PredicateExpressions.Value(id))
    }
  }

  /// A condition on the elements of a list, which may look at the entity itself.
  private mutating func elements() -> Truth {
    let verses = PredicateExpressions.KeyPath(root: song, keyPath: \Song.verses)
    let number = Int.random(in: -1...4, using: &random)
    let text = hostileText(&random)
    let title = PredicateExpressions.KeyPath(root: song, keyPath: \Song.title)
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      return PredicateExpressions.SequenceContainsWhere(verses) {
        PredicateExpressions.Equal(
          lhs: PredicateExpressions.KeyPath(root: $0, keyPath: \Verse.id), rhs: PredicateExpressions.Value(number))
      }
    case 1:
      return PredicateExpressions.SequenceAllSatisfy(verses) {
        PredicateExpressions.Comparison(
          lhs: PredicateExpressions.KeyPath(root: $0, keyPath: \Verse.text), rhs: title, op: .lessThan)
      }
    case 2:
      return PredicateExpressions.SequenceContainsWhere(verses) {
        PredicateExpressions.CollectionContainsCollection(
          base: PredicateExpressions.KeyPath(root: $0, keyPath: \Verse.text), other: PredicateExpressions.Value(text))
      }
    default:
      return PredicateExpressions.SequenceAllSatisfy(verses) {
        PredicateExpressions.Comparison(
          lhs: PredicateExpressions.KeyPath(root: $0, keyPath: \Verse.number), rhs: PredicateExpressions.Value(number),
          op: .greaterThanOrEqual)
      }
    }
  }
}

@Suite("Predicates and orders made at random")
struct RandomQueryTests {
  private static let orders: [[SortDescriptor<Song>]] = [
    [], [SortDescriptor(\.title)], [SortDescriptor(\.title, order: .reverse)], [SortDescriptor(\.text)],
    [SortDescriptor(\.subtitle)], [SortDescriptor(\.subtitle, order: .reverse), SortDescriptor(\.text)],
    [SortDescriptor(\.number), SortDescriptor(\.title, comparator: .lexical, order: .reverse)],
    [SortDescriptor(\.text, comparator: .lexical)], [SortDescriptor(\.title), SortDescriptor(\.id, order: .reverse)],
  ]

  /// The order of the composed forms, which is Foundation's wherever that is one.
  private func precedes(_ order: [SortDescriptor<Song>], _ a: Song, _ b: Song) -> Bool {
    func texts(_ song: Song, _ keyPath: PartialKeyPath<Song>?) -> [Unicode.Scalar]?? {
      switch keyPath {
      case \Song.title: Array(song.title.precomposedStringWithCanonicalMapping.unicodeScalars)
      case \Song.text: Array(song.text.precomposedStringWithCanonicalMapping.unicodeScalars)
      case \Song.subtitle: .some(song.subtitle.map { Array($0.precomposedStringWithCanonicalMapping.unicodeScalars) })
      default: nil
      }
    }
    for descriptor in order {
      var result = descriptor.compare(a, b)
      if case .some(let first) = texts(a, descriptor.keyPath), case .some(let second) = texts(b, descriptor.keyPath) {
        let isLess =
          first.map { first in second.map { first.lexicographicallyPrecedes($0) } ?? false } ?? (second != nil)
        let isGreater =
          second.map { second in first.map { second.lexicographicallyPrecedes($0) } ?? false } ?? (first != nil)
        result = isLess ? .orderedAscending : isGreater ? .orderedDescending : .orderedSame
        if descriptor.order == .reverse { result = ComparisonResult(rawValue: -result.rawValue) ?? .orderedSame }
      }
      if result != .orderedSame { return result == .orderedAscending }
    }
    return a.id < b.id
  }

  @Test(
    "Each store finds the rows that Foundation finds, in the same order, saved or not", arguments: StoreKind.allCases)
  func agrees(_ kind: StoreKind) throws {
    let seed = TestOptions.seed(1)
    var random = SeededGenerator(seed: seed)
    let model = try Model("Songs", entities: [Song.self, Singer.self, Verse.self])
    var (total, exact) = (0, 0)
    for round in 0..<kind.share(of: TestOptions.isLong ? 40 : 3) {
      try kind.withCoordinator(model) { coordinator in
        let context = coordinator.newContext()
        let singers = ["a", "\u{E9}", "z"].map {
          Singer(id: $0, name: hostileText(&random), nickname: Bool.random(using: &random) ? hostileText(&random) : nil)
        }
        let verses = (0..<4).map {
          Verse(id: $0, text: hostileText(&random), number: Int.random(in: -2...4, using: &random))
        }
        for id in 0..<50 { context.insert(Song(id: id, singers: singers, verses: verses, &random)) }
        try context.save()
        for step in 0..<(TestOptions.isLong ? 300 : 80) {
          // At first all is saved, then some songs are not, then what they refer to.
          if step == 40 {
            for id in 40..<60 { context.insert(Song(id: id, singers: singers, verses: verses, &random)) }
          }
          if step == 60 {
            try context.update(Singer.self, id: "a") { $0.name = "K" }
            try context.update(Verse.self, id: 1) { $0.text = "\u{212A}" }
          }
          let all = try context.fetch(FetchDescriptor<Song>())
          let depth = Int.random(in: 0..<4, using: &random)
          var grammar: Grammar?
          let predicate = Predicate<Song> { song in
            var made = Grammar(random: random, song: song)
            defer { grammar = made }
            return made.truth(depth)
          }
          if let grammar { random = grammar.random }
          let order = random.pick(Self.orders)
          let limit: Int? = random.pick([nil, nil, 5])
          let offset: Int? = random.pick([nil, nil, 3])
          let descriptor = FetchDescriptor(
            predicate: predicate, sortBy: order, fetchLimit: limit, fetchOffset: offset)
          let wanted = try all.filter { try predicate.evaluate($0) }.sorted { precedes(order, $0, $1) }
          let expected = wanted.dropFirst(offset ?? 0).prefix(limit ?? .max).map(\.id)
          let plan = FetchPlan(descriptor, try model.entity(Song.self), model)
          total += 1
          exact += plan.isExact ? 1 : 0
          let comment: Comment =
            "CONCORD_RANDOM_SEED=\(seed): round \(round), step \(step), \(plan.condition), \(order)"
          let found = try context.fetch(descriptor).map(\.id)
          if found != expected { #expect(found == expected, comment) }
          let count = try context.count(descriptor)
          if count != expected.count { #expect(count == expected.count, comment) }
        }
      }
    }
    // All of it is evaluated by the store, but for what is too large for a statement.
    #expect(exact * 100 >= total * 95, "\(exact) of \(total)")
  }
}
