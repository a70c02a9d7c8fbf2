import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// Drives contexts and a naive model of them with the same random steps, and compares all that each context sees after each.
///
/// `CONCORD_RANDOM_STEPS` says how many steps in all; `CONCORD_RANDOM_SEED` replays one world, whose seed is in the message of
/// a failure.
@Suite("Random operations on contexts")
struct RandomContextTests {
  /// What the contexts save to.
  enum Parent: CaseIterable {
    case stores, root, view, nestedView

    /// The parent, and what waits until all is written.
    func make(_ coordinator: PersistentStoreCoordinator) -> (parent: any ContextParent, write: () throws -> Void) {
      let report: AsyncErrorHandlerBlock = { Issue.record($0) }
      let root = RootContext(parent: coordinator, errorHandler: report)
      return switch self {
      case .stores: (coordinator, {})
      case .root: (root, { try root.writePendingChanges() })
      case .view: (ViewContext(parent: coordinator, errorHandler: report), {})
      case .nestedView: (ViewContext(parent: root, errorHandler: report), { try root.writePendingChanges() })
      }
    }
  }

  @Test(
    "Contexts do what the model says",
    arguments: StoreKind.allCases.flatMap { kind in
      Parent.allCases.filter { kind.isForManySteps || $0 == .view }.map { (kind, $0) }
    })
  func contextsAgreeWithModel(_ kind: StoreKind, _ parent: Parent) throws {
    // A step here takes as long as many of the store's.
    let worlds = kind.share(of: min(max(5, (TestOptions.steps ?? 0) / 2_000), 1_000))
    for seed in TestOptions.seeds(worlds) { try run(kind, parent, seed: seed) }
  }

  static let stepsInAWorld = 100

  private func run(_ kind: StoreKind, _ parent: Parent, seed: UInt64) throws {
    try kind.withCoordinator(libraryModel()) { coordinator in
      let (parent, write) = parent.make(coordinator)
      // The store goes when all is written, also if something is found.
      defer { try? write() }
      var world = RandomContextWorld(parent, seed: seed)
      for step in 0..<Self.stepsInAWorld {
        do {
          try world.step()
        } catch {
          Issue.record(
            "CONCORD_RANDOM_SEED=\(seed), step \(step): \(error)\n\(world.log.suffix(50).joined(separator: "\n"))")
          return
        }
      }
      // On disk it is the same as it was before it was written.
      try write()
      try world.compareAll()
    }
  }
}

struct RandomContextWorld {
  typealias Key = NaiveLibrary.Key
  typealias Field = NaiveLibrary.Field

  struct Difference: Error, CustomStringConvertible { let description: String }

  private var model = NaiveLibrary(contexts: 3)
  private let parent: any ContextParent
  private let contexts: [BackgroundContext]
  private var random: SeededGenerator
  private(set) var log: [String] = []

  init(_ parent: any ContextParent, seed: UInt64) {
    self.parent = parent
    contexts = (0..<3).map { _ in BackgroundContext(parent: parent) }
    random = SeededGenerator(seed: seed)
  }

  // MARK: Steps

  mutating func step() throws {
    let number = Int.random(in: contexts.indices, using: &random)
    let context = contexts[number]
    model.reconcile(number)
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<2: insert(randomReview(), number)
    case 2: insert(randomAuthor(), number)
    case 3..<6: insert(try randomBook(number), number)
    case 6..<8: try updateReview(number)
    case 8..<11: try updateBook(number)
    case 11: try updateLinks(number)
    case 12..<15: try delete(number)
    case 15..<18:
      log.append("\(number) save \(context.mergePolicy)")
      let isSaved = model.save(number)
      do {
        try context.save()
        if !isSaved { throw Difference(description: "it was saved, in spite of a conflict") }
      } catch StoreError.conflict {
        if isSaved { throw Difference(description: "there is no conflict") }
        model.rollback(number)
        context.rollback()
      }
    case 18:
      log.append("\(number) rollback")
      model.rollback(number)
      context.rollback()
    default:
      let policy = random.pick([MergePolicy.byStamp, .error, .storeTrump, .objectTrump])
      model.contexts[number].policy = policy
      context.mergePolicy = policy
    }
    try compareAll()
  }

  mutating func compareAll() throws {
    for number in contexts.indices { try compare(number) }
    // What is remembered of entities that are not stored.
    try parent.read(Set(parent.model.entities)) { reading in
      for (key, wanted) in model.deletions where model.committed[key] == nil {
        let entity = try #require(parent.model.entity(named: key.type))
        let id = key.type == "Review" ? StoredValue.integer(Int64(key.id) ?? 0) : .text(key.id)
        let stamp = try reading.deletion(of: EntityKey(entity, id)) ?? -.infinity
        if Self.isGiven(stamp) || Self.isGiven(wanted), !(abs(stamp - wanted) < 0.01) {
          throw Difference(description: "the deletion of \(key) has the stamp \(stamp), not \(wanted)")
        }
      }
    }
  }

  /// Long ago, ahead of the clock, or none.
  private mutating func stamp() -> Double? {
    switch Int.random(in: 0..<6, using: &random) {
    case 0..<2: .random(in: 0..<100, using: &random)
    case 2: 1e12 + .random(in: 0..<1000, using: &random)
    default: nil
    }
  }

  private static func isGiven(_ stamp: Double) -> Bool { stamp < 100 || stamp >= 1e12 }

  private mutating func insert<T: PersistentEntity>(_ value: T, _ number: Int) {
    let stamp = stamp()
    log.append("\(number) insert \(value) \(stamp.map { "\($0)" } ?? "")")
    model.insert(Self.flatten(value), number, stamp: stamp)
    contexts[number].insert(value, modifiedAt: stamp)
  }

  private mutating func updateReview(_ number: Int) throws {
    let (id, text, stars) = (Int.random(in: 0..<5, using: &random), random.pick(["x", "y"]), random.pick([nil, 1, 2]))
    let isText = Bool.random(using: &random)
    try update(Review.self, id, "\(id)", number) { if isText { $0.text = text } else { $0.stars = stars } }
  }

  private mutating func updateBook(_ number: Int) throws {
    let id = "\(Int.random(in: 0..<3, using: &random))"
    let other = try randomBook(number)
    let kind = Int.random(in: 0..<6, using: &random)
    let name = random.pick(["p", "q"])
    try update(Book.self, id, id, number) {
      switch kind {
      case 0: $0.title = other.title
      case 1: $0.author = other.author
      case 2: $0.editor = other.editor
      case 3: $0.reviews = other.reviews
      case 4: $0.author.name = name
      default: if !$0.reviews.isEmpty { $0.reviews[0].text = name }
      }
    }
  }

  private mutating func update<T: PersistentEntity>(
    _ type: T.Type, _ id: T.ID, _ text: String, _ number: Int, _ body: (inout T) -> Void
  ) throws {
    guard let before = try contexts[number].find(type, id: id) else {
      if try contexts[number].update(type, id: id, body) { throw Difference(description: "updated what is not there") }
      return
    }
    var after = before
    body(&after)
    log.append("\(number) update \(before) to \(after)")
    let given = Dictionary(uniqueKeysWithValues: Self.flatten(before).map { ($0.key, $0.fields) })
    let stamp = model.tick()
    // Of an edit at least one part must be taken; changing nothing is no edit.
    var isEdited = false
    var isTaken = false
    // The first occurrence that differs from what was given; the outermost, then the last, among equals in depth.
    for (key, occurrences) in Self.grouped(Self.occurrences(after)) {
      let changed = occurrences.filter { $0.fields != given[key] }
      guard let depth = changed.map(\.depth).min(), let winner = changed.last(where: { $0.depth == depth }) else {
        continue
      }
      let known = given[key] ?? [:]
      isEdited = true
      if model.edit(
        key, winner.fields.filter { known[$0.key] != $0.value }, whole: winner.fields, number, stamp: stamp)
      {
        isTaken = true
      }
    }
    if try contexts[number].update(type, id: id, body) != (isTaken || !isEdited) {
      throw Difference(description: "the model says \(isTaken || !isEdited)")
    }
  }

  /// Changes a book whose reviews are left out, and the links to these.
  private mutating func updateLinks(_ number: Int) throws {
    let id = "\(Int.random(in: 0..<3, using: &random))"
    let kind = Int.random(in: 0..<5, using: &random)
    let (title, position) = (random.pick(["t", "u"]), Int.random(in: 0..<4, using: &random))
    let (added, removed) = (randomReview(), Int.random(in: 0..<5, using: &random))
    let before = try contexts[number].find(Book.self, id: id)
    let isUpdated = try contexts[number].update(Book.self, id: id, leavingOut: \.reviews, \.tags) { book, links in
      if kind > 2 { book.title = title }
      switch kind {
      case 0, 3: try links.append(added, to: \.reviews)
      case 1: try links.insert(added, at: position, in: \.reviews)
      case 2, 4: try links.remove(removed, from: \.reviews)
      default: break
      }
    }
    guard let before else {
      if isUpdated { throw Difference(description: "updated what is not there") }
      return
    }
    var after = before
    if kind > 2 { after.title = title }
    switch kind {
    case 0, 3: after.reviews.append(added)
    case 1: after.reviews.insert(added, at: min(position, before.reviews.count))
    case 2, 4: after.reviews.removeAll { $0.id == removed }
    default: break
    }
    log.append("\(number) update links of \(before) to \(after)")
    let stamp = model.tick()
    var edits: [Occurrence] = []
    if kind != 2, kind != 4 { edits += Self.occurrences(added) }
    let (given, wanted) = (Self.occurrences(before)[0], Self.occurrences(after)[0])
    if given.fields != wanted.fields { edits.append(wanted) }
    var isTaken = edits.isEmpty
    for edit in edits {
      let known = edit.key == given.key ? given.fields : [:]
      let changes = edit.fields.filter { known[$0.key] != $0.value }
      if model.edit(edit.key, changes, whole: edit.fields, number, stamp: stamp) { isTaken = true }
    }
    if isUpdated != isTaken { throw Difference(description: "the model says \(isTaken)") }
  }

  private mutating func delete(_ number: Int) throws {
    let id = Int.random(in: 0..<5, using: &random)
    let stamp = stamp()
    let isDeleted: Bool
    let key: Key
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      key = Key(type: "Review", id: "\(id)")
      isDeleted = try contexts[number].delete(Review.self, id: id, modifiedAt: stamp)
    case 1:
      key = Key(type: "Author", id: "\(id)")
      isDeleted = try contexts[number].delete(Author.self, id: "\(id)", modifiedAt: stamp)
    default:
      key = Key(type: "Book", id: "\(id)")
      isDeleted = try contexts[number].delete(Book.self, id: "\(id)", modifiedAt: stamp)
    }
    log.append("\(number) delete \(key) \(stamp.map { "\($0)" } ?? "")")
    if model.delete(key, number, stamp: stamp) != isDeleted {
      throw Difference(description: "the model says \(!isDeleted)")
    }
  }

  // MARK: Values

  private mutating func randomReview() -> Review {
    Review(id: .random(in: 0..<5, using: &random), text: random.pick(["a", "b"]), stars: random.pick([nil, 0, 3]))
  }

  private mutating func randomAuthor() -> Author {
    Author(id: "\(Int.random(in: 0..<3, using: &random))", name: random.pick(["n", "m"]))
  }

  /// Made of new values, and of what the context sees.
  private mutating func randomBook(_ number: Int) throws -> Book {
    let known = try contexts[number].fetch(FetchDescriptor<Review>())
    let reviews = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      known.isEmpty || Int.random(in: 0..<3, using: &random) == 0 ? randomReview() : random.pick(known)
    }
    let author = randomAuthor()
    return Book(
      id: "\(Int.random(in: 0..<3, using: &random))", title: random.pick(["t", "u"]),
      author: Bool.random(using: &random) ? author : try contexts[number].find(Author.self, id: author.id) ?? author,
      editor: random.pick([nil, randomAuthor()]), reviews: reviews)
  }

  typealias Occurrence = (key: Key, fields: [String: Field], depth: Int)

  private static func occurrences<T: PersistentEntity>(_ value: T) -> [Occurrence] {
    switch value {
    case let review as Review:
      return [(key(review), ["text": .text(review.text), "stars": .number(review.stars)], 0)]
    case let author as Author: return [(key(author), ["name": .text(author.name)], 0)]
    case let book as Book:
      let inside =
        occurrences(book.author) + (book.editor.map(occurrences) ?? []) + book.reviews.flatMap { occurrences($0) }
      return [
        (
          key(book),
          [
            "title": .text(book.title), "author": .one(key(book.author)), "editor": .optional(book.editor.map(key)),
            "reviews": .many(book.reviews.map(key)),
          ], 0
        )
      ] + inside.map { ($0.key, $0.fields, $0.depth + 1) }
    default: return []
    }
  }

  /// The occurrences of each entity, in the order of the first ones.
  private static func grouped(_ occurrences: [Occurrence]) -> [(key: Key, occurrences: [Occurrence])] {
    var groups = Dictionary(grouping: occurrences, by: \.key)
    return occurrences.compactMap { occurrence in
      groups.removeValue(forKey: occurrence.key).map { (occurrence.key, $0) }
    }
  }

  /// Each entity once: the outermost, and the last among equals.
  private static func flatten<T: PersistentEntity>(
    _ value: T
  ) -> [(key: Key, fields: [String: Field], isNested: Bool)] {
    grouped(occurrences(value)).compactMap { key, occurrences in
      let depth = occurrences.map(\.depth).min()
      return occurrences.last { $0.depth == depth }.map { (key, $0.fields, $0.depth > 0) }
    }
  }

  private static func key<T: PersistentEntity>(_ value: T) -> Key { Key(type: T.entityName, id: "\(value.id)") }

  // MARK: Comparing

  private mutating func compare(_ number: Int) throws {
    model.reconcile(number)
    let context = contexts[number]
    let view = model.view(number)
    try compare(context.fetch(FetchDescriptor<Review>()), view, number)
    try compare(context.fetch(FetchDescriptor<Author>()), view, number)
    try compare(context.fetch(FetchDescriptor<Book>()), view, number)
    let count = try context.count(FetchDescriptor<Book>())
    if count != view.keys.count(where: { $0.type == "Book" }) { throw Difference(description: "\(count) books") }
    if context.hasChanges == model.contexts[number].pending.isEmpty {
      throw Difference(description: "context \(number) has changes: \(context.hasChanges)")
    }
  }

  private func compare<T: PersistentEntity>(_ found: [T], _ view: [Key: NaiveLibrary.Record], _ number: Int) throws {
    let expected = view.filter { $0.key.type == T.entityName }
    var rest = expected
    for value in found {
      for occurrence in Self.occurrences(value) where view[occurrence.key]?.fields != occurrence.fields {
        throw Difference(
          description: "context \(number) shows \(occurrence), not \(String(describing: view[occurrence.key]))")
      }
      let key = Self.key(value)
      rest[key] = nil
      // The clocks differ, but not what was given.
      let (stamp, wanted) = (try contexts[number].stamp(of: T.self, id: value.id) ?? 0, expected[key]?.stamp ?? 0)
      if Self.isGiven(stamp) || Self.isGiven(wanted), abs(stamp - wanted) > 0.01 {
        throw Difference(description: "context \(number) has the stamp \(stamp) of \(key), not \(wanted)")
      }
    }
    if !rest.isEmpty || found.count != expected.count {
      throw Difference(description: "context \(number) fetches \(found), not \(expected)")
    }
  }
}
