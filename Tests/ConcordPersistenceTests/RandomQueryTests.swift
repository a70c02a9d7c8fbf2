import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// A property, or what it leads to, by which songs are sorted.
private struct OrderedPlace {
  let name: String
  let descriptor: (SortOrder) -> SortDescriptor<Song>
  /// Less than 0 if the first song precedes the second one, more if it follows.
  let compare: (Song, Song) -> Int
  /// Whether Foundation's own order contradicts itself nowhere among songs for which this holds.
  var isOrderedByFoundation: (Song) -> Bool = { _ in true }

  /// A place of texts: in the order of the composed forms, which is Foundation's wherever that is one.
  static func text(_ name: String, _ keyPath: any KeyPath<Song, String> & Sendable) -> [OrderedPlace] {
    let compare = { (a: Song, b: Song) in byRank(scalars(a[keyPath: keyPath]), scalars(b[keyPath: keyPath])) }
    let isOrdered = { (song: Song) in isComposed(song[keyPath: keyPath]) }
    return [
      OrderedPlace(
        name: name, descriptor: { withoutComparator(keyPath, $0) }, compare: compare, isOrderedByFoundation: isOrdered),
      OrderedPlace(
        name: "\(name) (lexical)", descriptor: { SortDescriptor(keyPath, comparator: .lexical, order: $0) },
        compare: compare, isOrderedByFoundation: isOrdered),
    ]
  }

  static func text(_ name: String, _ keyPath: any KeyPath<Song, String?> & Sendable) -> [OrderedPlace] {
    let compare = { (a: Song, b: Song) in byRank(a[keyPath: keyPath].map(scalars), b[keyPath: keyPath].map(scalars)) }
    let isOrdered = { (song: Song) in song[keyPath: keyPath].map(isComposed) ?? true }
    return [
      OrderedPlace(
        name: name, descriptor: { withoutComparator(keyPath, $0) }, compare: compare, isOrderedByFoundation: isOrdered),
      OrderedPlace(
        name: "\(name) (lexical)", descriptor: { SortDescriptor(keyPath, comparator: .lexical, order: $0) },
        compare: compare, isOrderedByFoundation: isOrdered),
    ]
  }

  /// A descriptor that compares by `<`, texts, too: in generic code, since Apple's Foundation gives descriptors of texts a comparator otherwise.
  private static func withoutComparator<V: Comparable>(
    _ keyPath: any KeyPath<Song, V> & Sendable, _ order: SortOrder
  ) -> SortDescriptor<Song> {
    SortDescriptor(keyPath, order: order)
  }

  private static func withoutComparator<V: Comparable>(
    _ keyPath: any KeyPath<Song, V?> & Sendable, _ order: SortOrder
  ) -> SortDescriptor<Song> {
    SortDescriptor(keyPath, order: order)
  }

  /// A place of numbers, of which NaN come last.
  static func real(
    _ name: String, _ descriptor: @escaping (SortOrder) -> SortDescriptor<Song>,
    _ number: @escaping (Song) -> Double?
  ) -> OrderedPlace {
    func rank(_ song: Song) -> [Double]? { number(song).map { $0.isNaN ? [1, 0] : [0, $0] } }
    return OrderedPlace(
      name: name, descriptor: descriptor, compare: { byRank(rank($0), rank($1)) },
      isOrderedByFoundation: { !(number($0)?.isNaN ?? false) })
  }

  static func value<V: Comparable>(_ name: String, _ keyPath: any KeyPath<Song, V> & Sendable) -> OrderedPlace {
    OrderedPlace(
      name: name, descriptor: { SortDescriptor(keyPath, order: $0) },
      compare: { byRank([$0[keyPath: keyPath]], [$1[keyPath: keyPath]]) })
  }

  static func value<V: Comparable>(_ name: String, _ keyPath: any KeyPath<Song, V?> & Sendable) -> OrderedPlace {
    OrderedPlace(
      name: name, descriptor: { SortDescriptor(keyPath, order: $0) },
      compare: { byRank($0[keyPath: keyPath].map { [$0] }, $1[keyPath: keyPath].map { [$0] }) })
  }

  private static func scalars(_ text: String) -> [Unicode.Scalar] {
    // Foundation composes no final consonant with a Korean syllable that is composed already.
    Array(text.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping.unicodeScalars)
  }

  /// Whether a text is in composed form. Foundation leaves a consonant behind a Korean syllable as it is, which Swift's strings compose.
  private static func isComposed(_ text: String) -> Bool {
    text.unicodeScalars.elementsEqual(text.canonicallyComposed.unicodeScalars)
      && !text.unicodeScalars.contains { (0x1100...0x11FF).contains($0.value) }
  }

  /// `nil` comes first.
  private static func byRank<V: Comparable>(_ a: [V]?, _ b: [V]?) -> Int {
    guard let a, let b else { return (a == nil ? 0 : 1) - (b == nil ? 0 : 1) }
    return a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
  }

  static func all() -> [OrderedPlace] {
    var places = text("title", \Song.title)
    places += text("text", \Song.text)
    places += text("author.name", \Song.author.name)
    places += text("subtitle", \Song.subtitle)
    places += text("singer.name", \Song.singer?.name)
    places += text("singer.nickname", \Song.singer?.nickname)
    return places + [
      value("id", \Song.id), value("number", \Song.number), value("rank", \Song.rank),
      value("verses.count", \Song.verses.count), value("title.count", \Song.title.count),
      real("real", { SortDescriptor(\Song.real, order: $0) }, { $0.real }),
      real("tempo", { SortDescriptor(\Song.tempo, order: $0) }, { $0.tempo }),
      real("loudness", { SortDescriptor(\Song.loudness, order: $0) }, { Double($0.loudness) }),
      real("written", { SortDescriptor(\Song.written, order: $0) }, { $0.written.timeIntervalSinceReferenceDate }),
      real(
        "published", { SortDescriptor(\Song.published, order: $0) }, { $0.published?.timeIntervalSinceReferenceDate }),
      value("code", \Song.code), value("owner", \Song.owner), value("price", \Song.price),
    ]
  }
}

@Suite("Predicates and orders made at random")
struct RandomQueryTests {
  private func precedes(_ order: [(place: OrderedPlace, order: SortOrder)], _ a: Song, _ b: Song) -> Bool {
    for (place, order) in order {
      let result = place.compare(a, b)
      if result != 0 { return (result < 0) == (order == .forward) }
    }
    return a.id < b.id
  }

  @Test(
    "Each store finds the rows that Foundation finds, in the same order, saved or not", arguments: StoreKind.allCases)
  func agrees(_ kind: StoreKind) throws {
    let seed = TestOptions.seed(.random(in: 0 ... .max))
    // What a predicate traps on ends the process.
    print("\(#fileID), \(kind): seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let places = OrderedPlace.all()
    let model = try Model("Songs", entities: [Song.self, Singer.self, Verse.self])
    var (total, exact, compared) = (0, 0, 0)
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
          var grammar: RandomPredicates?
          let predicate = Predicate<Song> { song in
            var made = RandomPredicates(random: random, song: song)
            defer { grammar = made }
            return made.truth(depth)
          }
          if let grammar { random = grammar.random }
          let order = (0..<random.pick([0, 1, 1, 2, 3])).map { _ in
            (place: random.pick(places), order: random.pick([SortOrder.forward, .reverse]))
          }
          let limit: Int? = random.pick([nil, nil, 5])
          let offset: Int? = random.pick([nil, nil, 3])
          let descriptor = FetchDescriptor(
            predicate: predicate, sortBy: order.map { $0.descriptor($1) }, fetchLimit: limit, fetchOffset: offset)
          let wanted = try all.filter { try predicate.evaluate($0) }.sorted { precedes(order, $0, $1) }
          // The order that is expected is Foundation's own, too, wherever that is one.
          let ordered = wanted.filter { song in order.allSatisfy { $0.place.isOrderedByFoundation(song) } }
          let comparators = order.map { $0.place.descriptor($0.order) } + [SortDescriptor(\Song.id)]
          let sorted = ordered.sorted { $0.id < $1.id }.sorted(using: comparators)
          let expected = wanted.dropFirst(offset ?? 0).prefix(limit ?? .max).map(\.id)
          let plan = FetchPlan(descriptor, try model.entity(Song.self), model)
          if let grammar, !grammar.isLeftToMemory {
            total += 1
            exact += plan.isExact ? 1 : 0
          }
          let comment: Comment = """
            CONCORD_RANDOM_SEED=\(seed): round \(round), step \(step), \(plan.condition), \
            \(order.map { "\($0.name) \($1)" })
            """
          if sorted.map(\.id) != ordered.map(\.id) { #expect(sorted.map(\.id) == ordered.map(\.id), comment) }
          compared += order.isEmpty ? 0 : max(0, ordered.count - 1)
          let found = try context.fetch(descriptor).map(\.id)
          if found != expected { #expect(found == expected, comment) }
          let count = try context.count(descriptor)
          if count != expected.count { #expect(count == expected.count, comment) }
        }
      }
    }
    // All of that is evaluated by the store, but for what is too large for a statement.
    #expect(exact * 100 >= total * 95, "\(exact) of \(total)")
    #expect(compared > 0)
  }
}
