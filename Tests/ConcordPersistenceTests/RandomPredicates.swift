import ConcordTestShared
import Foundation

@testable import ConcordPersistence

private typealias Truth = any StandardPredicateExpression<Bool>
private typealias Text = any StandardPredicateExpression<String>
private typealias Number = any StandardPredicateExpression<Int>
private typealias Real = any StandardPredicateExpression<Double>

private typealias Moment = any StandardPredicateExpression<Date>
private typealias Ratio = any StandardPredicateExpression<Float>

/// Makes predicates from the whole grammar that this Foundation has.
struct RandomPredicates {
  var random: SeededGenerator
  let song: PredicateExpressions.Variable<Song>
  /// Whether a part was made that no store evaluates.
  var isLeftToMemory = false

  private mutating func pick<R>(_ makers: [(inout RandomPredicates) -> R]) -> R {
    makers[Int.random(in: makers.indices, using: &random)](&self)
  }

  mutating func truth(_ depth: Int) -> any StandardPredicateExpression<Bool> {
    let leaves: [(inout RandomPredicates) -> Truth] = [
      { g in g.compare(g.text(depth - 1), g.text(depth - 1)) },
      { g in g.compare(g.number(depth - 1), g.number(depth - 1)) },
      { g in g.compare(g.real(depth - 1), g.real(depth - 1)) },
      { g in g.search(g.text(depth - 1), g.text(0)) },
      { g in g.search(g.titles(), g.constant()) },
      { g in g.compare(g.titles(), g.constant()) },
      { g in g.optional() },
      { g in g.list() },
      { g in g.isEmpty(g.text(depth - 1)) },
      { g in g.compare(g.date(depth - 1), g.date(depth - 1)) },
      { g in g.compare(g.float(depth - 1), g.float(depth - 1)) },
      { g in g.flag() }, { g in g.optionalNumber() }, { g in g.optionalReal() }, { g in g.optionalDate() },
      { g in g.identity() }, { g in g.price() },
      { g in g.inRange(g.number(depth - 1), { .random(in: -3...3, using: &$0) }) },
      { g in g.inRange(g.real(depth - 1), { $0.pick([0, -0.0, 1, 1.5, -2, .infinity]) }) },
      { g in g.inRange(g.date(depth - 1), hostileDate) },
      { g in g.inRange(g.titles(), hostileText) },
    ]
    if depth <= 0 { return pick(leaves) }
    let inner: [(inout RandomPredicates) -> Truth] = [
      { g in g.leftToMemory() },
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

  private mutating func text(_ depth: Int) -> Text {
    let leaves: [(inout RandomPredicates) -> Text] = [
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

  private mutating func number(_ depth: Int) -> Number {
    let leaves: [(inout RandomPredicates) -> Number] = [
      { g in PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.number) },
      { g in PredicateExpressions.Value(Int.random(in: -3...3, using: &g.random)) },
      { g in
        PredicateExpressions.KeyPath(
          root: PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.verses), keyPath: \[Verse].count)
      },
      { g in g.count(g.text(0)) },
      { g in
        PredicateExpressions.NilCoalesce(
          lhs: PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.rank),
          rhs: PredicateExpressions.Value(Int.random(in: -3...3, using: &g.random)))
      },
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

  private mutating func real(_ depth: Int) -> Real {
    let leaves: [(inout RandomPredicates) -> Real] = [
      { g in PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.real) },
      { g in PredicateExpressions.Value(g.random.pick([0, -0.0, .nan, 1, -2])) },
      { g in
        PredicateExpressions.NilCoalesce(
          lhs: PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.tempo),
          rhs: PredicateExpressions.Value(g.random.pick([0, -0.0, .nan, 1, -2])))
      },
    ]
    if depth <= 0 { return pick(leaves) }
    return pick(
      leaves + [
        { g in g.calculate(g.real(depth - 1), g.real(depth - 1)) },
        { g in g.quotient(g.real(depth - 1), g.real(depth - 1)) },
        { g in g.choice(g.truth(depth - 1), g.real(depth - 1), g.real(depth - 1)) },
        { g in g.minus(g.real(depth - 1)) },
      ])
  }

  private mutating func float(_ depth: Int) -> Ratio {
    let leaves: [(inout RandomPredicates) -> Ratio] = [
      { g in PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.loudness) },
      { g in PredicateExpressions.Value(g.random.pick([0, -0.0, .nan, 0.1, 1.5, -2])) },
    ]
    if depth <= 0 { return pick(leaves) }
    return pick(
      leaves + [
        { g in g.calculate(g.float(depth - 1), g.float(depth - 1)) },
        { g in g.quotient(g.float(depth - 1), g.float(depth - 1)) },
        { g in g.minus(g.float(depth - 1)) },
      ])
  }

  private mutating func date(_ depth: Int) -> Moment {
    let leaves: [(inout RandomPredicates) -> Moment] = [
      { g in PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.written) },
      { g in PredicateExpressions.Value(hostileDate(&g.random)) },
      { g in
        PredicateExpressions.NilCoalesce(
          lhs: PredicateExpressions.KeyPath(root: g.song, keyPath: \Song.published),
          rhs: PredicateExpressions.Value(hostileDate(&g.random)))
      },
    ]
    if depth <= 0 { return pick(leaves) }
    return pick(leaves + [{ g in g.choice(g.truth(depth - 1), g.date(depth - 1), g.date(depth - 1)) }])
  }

  // MARK: Properties of other types

  private mutating func flag() -> Truth {
    let isSad = PredicateExpressions.KeyPath(root: song, keyPath: \Song.isSad)
    let isLive = PredicateExpressions.KeyPath(root: song, keyPath: \Song.isLive)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return isSad
    case 1:
      return PredicateExpressions.NotEqual(
        lhs: isSad, rhs: PredicateExpressions.Value(Bool.random(using: &random)))
    case 2:
      return PredicateExpressions.NilCoalesce(
        lhs: isLive, rhs: PredicateExpressions.Value(Bool.random(using: &random)))
    case 3:
      return PredicateExpressions.Equal(
        lhs: isLive, rhs: PredicateExpressions.Value(random.pick([true, false, nil])))
    default: return PredicateExpressions.NotEqual(lhs: isLive, rhs: PredicateExpressions.NilLiteral<Bool>())
    }
  }

  private mutating func optionalNumber() -> Truth {
    optional(\Song.rank, { Int.random(in: -2...3, using: &$0) })
  }
  private mutating func optionalReal() -> Truth {
    optional(\Song.tempo, { $0.pick([0, -0.0, .nan, 0.1, 1.5]) })
  }
  private mutating func optionalDate() -> Truth {
    let published = PredicateExpressions.KeyPath(root: song, keyPath: \Song.published)
    let date = hostileDate(&random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return PredicateExpressions.Equal(lhs: published, rhs: PredicateExpressions.Value(Optional(date)))
    case 1: return PredicateExpressions.Equal(lhs: published, rhs: PredicateExpressions.NilLiteral<Date>())
    case 2:
      return PredicateExpressions.NotEqual(
        lhs: published,
        rhs: PredicateExpressions.Value(Bool.random(using: &random) ? Optional(hostileDate(&random)) : nil))
    default:
      return PredicateExpressions.NilCoalesce(
        lhs: PredicateExpressions.OptionalFlatMap(published) {
          PredicateExpressions.Comparison(lhs: $0, rhs: PredicateExpressions.Value(date), op: .lessThanOrEqual)
        }, rhs: PredicateExpressions.Value(Bool.random(using: &random)))
    }
  }

  private mutating func optional<V: Numeric & Comparable & Codable & SendableMetatype>(
    _ keyPath: any KeyPath<Song, V?> & Sendable, _ make: (inout SeededGenerator) -> V
  ) -> Truth {
    let property = PredicateExpressions.KeyPath(root: song, keyPath: keyPath)
    let value = make(&random)
    let other = make(&random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return PredicateExpressions.Equal(lhs: property, rhs: PredicateExpressions.Value(Optional(value)))
    case 1: return PredicateExpressions.Equal(lhs: property, rhs: PredicateExpressions.NilLiteral<V>())
    case 2: return PredicateExpressions.NotEqual(lhs: property, rhs: PredicateExpressions.Value(Optional(value)))
    case 3:
      return PredicateExpressions.NilCoalesce(
        lhs: PredicateExpressions.OptionalFlatMap(property) {
          PredicateExpressions.Comparison(lhs: $0, rhs: PredicateExpressions.Value(value), op: .greaterThanOrEqual)
        }, rhs: PredicateExpressions.Value(Bool.random(using: &random)))
    case 4:
      return PredicateExpressions.Equal(
        lhs: PredicateExpressions.OptionalFlatMap(property) {
          PredicateExpressions.Arithmetic(lhs: $0, rhs: PredicateExpressions.Value(value), op: .add)
        }, rhs: PredicateExpressions.Value(Optional(value + other)))
    default:
      // Of what is not there nothing is forced.
      isLeftToMemory = true
      return PredicateExpressions.Conjunction(
        lhs: PredicateExpressions.NotEqual(lhs: property, rhs: PredicateExpressions.NilLiteral<V>()),
        rhs: PredicateExpressions.Comparison(
          lhs: PredicateExpressions.ForcedUnwrap(property), rhs: PredicateExpressions.Value(value), op: .lessThan))
    }
  }

  private mutating func identity() -> Truth {
    let code = PredicateExpressions.KeyPath(root: song, keyPath: \Song.code)
    let owner = PredicateExpressions.KeyPath(root: song, keyPath: \Song.owner)
    let ids = (0..<2).map { _ in smallID(&random) }
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return PredicateExpressions.Equal(lhs: code, rhs: PredicateExpressions.Value(ids[0]))
    case 1: return PredicateExpressions.NotEqual(lhs: owner, rhs: PredicateExpressions.Value(Optional(ids[0])))
    case 2:
      return PredicateExpressions.SequenceContains(sequence: PredicateExpressions.Value(ids), element: code)
    case 3:
      return PredicateExpressions.Equal(
        lhs: PredicateExpressions.NilCoalesce(lhs: owner, rhs: PredicateExpressions.Value(ids[1])), rhs: code)
    default:
      isLeftToMemory = true
      return PredicateExpressions.Comparison(lhs: code, rhs: PredicateExpressions.Value(ids[0]), op: .lessThan)
    }
  }

  private mutating func price() -> Truth {
    let price = PredicateExpressions.KeyPath(root: song, keyPath: \Song.price)
    let (a, b) = (smallPrice(&random), smallPrice(&random))
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return PredicateExpressions.Equal(lhs: price, rhs: PredicateExpressions.Value(a))
    case 1: return PredicateExpressions.SequenceContains(sequence: PredicateExpressions.Value([a, b]), element: price)
    case 2:
      isLeftToMemory = true
      return compare(price, PredicateExpressions.Value(a))
    default:
      isLeftToMemory = true
      return PredicateExpressions.Comparison(
        lhs: PredicateExpressions.Arithmetic(lhs: price, rhs: PredicateExpressions.Value(a), op: .multiply),
        rhs: PredicateExpressions.Value(b), op: .lessThanOrEqual)
    }
  }

  private mutating func inRange<V: Comparable & Codable & Sendable & SendableMetatype>(
    _ element: some StandardPredicateExpression<V>, _ make: (inout SeededGenerator) -> V
  ) -> Truth {
    var (lower, upper) = (make(&random), make(&random))
    // NaN bounds no range.
    guard lower == lower, upper == upper else { return compare(element, PredicateExpressions.Value(lower)) }
    if !(lower <= upper) { swap(&lower, &upper) }
    guard lower <= upper else { return compare(element, PredicateExpressions.Value(lower)) }
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      return PredicateExpressions.RangeExpressionContains(
        range: PredicateExpressions.Value(lower..<upper), element: element)
    case 1:
      return PredicateExpressions.RangeExpressionContains(
        range: PredicateExpressions.Value(lower...upper), element: element)
    case 2:
      return PredicateExpressions.RangeExpressionContains(
        range: PredicateExpressions.Range(
          lower: PredicateExpressions.Value(lower), upper: PredicateExpressions.Value(upper)), element: element)
    default:
      return PredicateExpressions.RangeExpressionContains(
        range: PredicateExpressions.ClosedRange(
          lower: PredicateExpressions.Value(lower), upper: PredicateExpressions.Value(upper)), element: element)
    }
  }

  /// A part that no store evaluates.
  private mutating func leftToMemory() -> Truth {
    isLeftToMemory = true
    let title = PredicateExpressions.KeyPath(root: song, keyPath: \Song.title)
    let verses = PredicateExpressions.KeyPath(root: song, keyPath: \Song.verses)
    let count = PredicateExpressions.KeyPath(root: verses, keyPath: \[Verse].count)
    let number = PredicateExpressions.KeyPath(root: song, keyPath: \Song.number)
    let value = Int.random(in: -2...4, using: &random)
    let larger = PredicateExpressions.Filter(PredicateExpressions.Value([-2, 0, 1, 2, 3])) {
      PredicateExpressions.Comparison(lhs: $0, rhs: number, op: .greaterThan)
    }
    switch Int.random(in: 0..<7, using: &random) {
    case 0:
      // Of what is not there nothing is asked for.
      return PredicateExpressions.Conjunction(
        lhs: PredicateExpressions.Comparison(lhs: count, rhs: PredicateExpressions.Value(1), op: .greaterThan),
        rhs: PredicateExpressions.Comparison(
          lhs: PredicateExpressions.KeyPath(
            root: PredicateExpressions.CollectionIndexSubscript(wrapped: verses, index: PredicateExpressions.Value(1)),
            keyPath: \Verse.number), rhs: PredicateExpressions.Value(value), op: .lessThanOrEqual))
    case 1:
      return PredicateExpressions.Comparison(
        lhs: PredicateExpressions.KeyPath(
          root: PredicateExpressions.Filter(verses) {
            PredicateExpressions.Comparison(
              lhs: PredicateExpressions.KeyPath(root: $0, keyPath: \Verse.number),
              rhs: PredicateExpressions.Value(value), op: .greaterThan)
          }, keyPath: \[Verse].count), rhs: PredicateExpressions.Value(1), op: .greaterThanOrEqual)
    case 2:
      return PredicateExpressions.Equal(
        lhs: PredicateExpressions.SequenceMinimum(elements: larger),
        rhs: PredicateExpressions.Value(random.pick([value, 1, nil])))
    case 3:
      return PredicateExpressions.NotEqual(
        lhs: PredicateExpressions.SequenceMaximum(elements: larger),
        rhs: PredicateExpressions.Value(random.pick([value, 3, nil])))
    case 4:
      return PredicateExpressions.Equal(
        lhs: PredicateExpressions.ConditionalCast<_, Int>(number), rhs: PredicateExpressions.Value(Optional(value)))
    case 5: return PredicateExpressions.TypeCheck<_, String>(number)
    default:
      return PredicateExpressions.Equal(
        lhs: PredicateExpressions.DictionaryKeySubscript(
          wrapped: PredicateExpressions.Value(["": 0, "a": 1, "\u{E9}": value]), key: title),
        rhs: PredicateExpressions.Value(random.pick([0, 1, value, nil] as [Int?])))
    }
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

  private func minus<V: SignedNumeric>(
    _ a: some StandardPredicateExpression<V>
  ) -> any StandardPredicateExpression<V> { PredicateExpressions.UnaryMinus(a) }

  private func quotient<V: FloatingPoint>(
    _ a: some StandardPredicateExpression<V>, _ b: some StandardPredicateExpression<V>
  ) -> any StandardPredicateExpression<V> { PredicateExpressions.FloatDivision(lhs: a, rhs: b) }

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
