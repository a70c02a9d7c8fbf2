import Concord

/// A store with layers beside its model. All entities have an observer, so that none is released.
final class LayersWorld {
  private let ids: Range<Int>
  /// Layers only do what is traced, so that writes to the base may leave them shown.
  private let isTraced: Bool
  /// The percentage of edits of shelves and readers among those that are traced.
  private let aggregates: Int
  /// The percentage of the books that a shelf has.
  private let density: Int

  private let store: EntityStore
  private var model: LayersModel
  private var random: SeededGenerator
  private var handles: [Int: OptimisticLayer] = [:]
  private var ended: [Int: String] = [:]
  private var lastLayer = 0
  private var isInTransaction = false
  private(set) var log: [String] = []
  private var problems: [String] = []

  private var screens: [any AnyScreen] = []
  /// What was shown after the step before, to know whether anybody had to be told.
  private var before = LayersModel.Rows()

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    let (hasClock, isTraced) = (random.chance(50), random.chance(50))
    let isLarge = random.chance(5)
    self.isTraced = isTraced
    ids = 0..<(isTraced ? isLarge ? 40 : 8 : 4)
    density = isLarge ? 90 : 40
    aggregates = random.pick([20, 20, 60, 95])
    store = EntityStore(delivery: .immediate, stamping: hasClock ? .clock : .unstampedWritesWin)
    model = LayersModel(hasClock: hasClock)
    for id in ids {
      screens.append(Screen(store.observer(LayerBook.self, id: id)) { $0.books[id] })
      screens.append(
        Screen(store.observer(LayerShelf.self, id: id)) { rows in rows.shelves[id].map { rows.shelf(id, $0) } })
      // Inside a cycle a reader is shown brief, so that only what stands in it can be compared.
      screens.append(ReaderScreen(store.observer(LayerReader.self, id: id), id))
    }
    screens.append(Screen(store.find(named: .featured)) { rows in rows.featured.flatMap { rows.books[$0] } })
    screens.append(Screen(store.find(named: .shelved)) { rows in rows.favourites?.compactMap { rows.books[$0] } })
  }

  // MARK: Steps

  func step() {
    for screen in screens { screen.forget() }
    if random.chance(25) { transaction() } else { act() }
    before = model.show()
    // Those that the step dropped.
    for (number, layer) in handles where !model.layers.contains(where: { $0.number == number }) {
      if ended[number] == nil { ended[number] = "dropped" }
      if !"\(layer.state)".hasPrefix(ended[number] ?? "") {
        problems.append("layer \(number) is \(layer.state), and not \(ended[number] ?? "")")
      }
      handles[number] = nil
    }
  }

  private func transaction() {
    let saved = saved()
    let isThrowing = random.chance(30)
    note("transaction\(isThrowing ? " that throws" : "")")
    isInTransaction = true
    try? store.transaction { _ in
      for _ in 0..<random.below(5) + 1 {
        if random.chance(20) {
          let saved = self.saved()
          let isThrowing = random.chance(50)
          note("nested\(isThrowing ? " that throws" : "")")
          try? store.transaction { _ in
            for _ in 0..<random.below(3) + 1 { act() }
            if isThrowing {
              goBack(to: saved)
              throw Refused()
            }
          }
        } else {
          act()
        }
        if random.chance(30) { compare(with: model.base, "in the transaction") }
      }
      if isThrowing {
        goBack(to: saved)
        throw Refused()
      }
    }
    isInTransaction = false
  }

  private func saved() -> (model: LayersModel, ended: [Int: String], lastLayer: Int) { (model, ended, lastLayer) }

  private func goBack(to saved: (model: LayersModel, ended: [Int: String], lastLayer: Int)) {
    (model, ended) = (saved.model, saved.ended)
    // Made meanwhile, and undone.
    for number in saved.lastLayer..<lastLayer { ended[number + 1] = "rolledBack" }
  }

  private func act() {
    switch random.below(10) {
    case 0..<5:
      let again = random.chance(30) ? again() : nil
      let edit = again ?? (isTraced && random.chance(60) ? tracedEdit() : edit())
      let isOneCall = isInTransaction || edit.isOneCall && random.chance(50)
      note("\(edit)\(isOneCall ? "" : " in a transaction")")
      if isOneCall { try? edit.apply(to: store) } else { try? store.transaction { try edit.apply(to: $0) } }
      model.write(edit)
    case 5..<8: makeLayer()
    case 8:
      end {
        model.commit($0) ? "committed" : "dropped"
      } by: {
        $0.commit()
      }
    default:
      end {
        model.rollBack($0)
        return "rolledBack"
      } by: {
        $0.rollBack()
      }
    }
  }

  private func makeLayer() {
    lastLayer += 1
    let number = lastLayer
    let edits = (0..<random.below(3) + 1).map { _ in isTraced ? tracedEdit() : edit() }
    note("layer \(number): \(edits)")
    let problem = model.add(.init(number: number, edits: edits))
    do {
      handles[number] = try store.optimistically { tx in for edit in edits { try edit.apply(to: tx) } }
      if problem == .thrown { problems.append("layer \(number) did not throw") }
      if problem == .missing { ended[number] = "dropped" }
    } catch {
      if problem != .thrown { problems.append("layer \(number) threw") }
    }
  }

  private func end(_ model: (Int) -> String, by end: (OptimisticLayer) -> Void) {
    let numbers = self.model.layers.map(\.number)
    // The lowest and the topmost cost less than others.
    let choice = random.below(4)
    let picked = choice == 0 ? numbers.first : choice == 1 ? numbers.last : numbers.randomElement(using: &random)
    guard let number = picked, let layer = handles[number] else { return }
    ended[number] = model(number)
    note("\(ended[number] ?? "") \(number)")
    end(layer)
  }

  private func tracedEdit() -> LayerEdit {
    while true {
      let edit = edit()
      if edit.isTraced, random.chance(edit.isOfBooks ? 100 - aggregates : aggregates) { return edit }
    }
  }

  private func edit() -> LayerEdit {
    let id = random.pick(Array(ids))
    let other = random.pick(Array(ids))
    let stamp = random.chance(30) ? Double(random.below(20)) + (random.chance(10) ? 1e12 : 0) : nil
    switch random.below(26) {
    case 0...2: return .store(book(id), stamp: stamp)
    case 3, 4: return .like(id)
    case 5: return .retitle(id, "\(random.below(3))")
    case 6: return .removeBook(id)
    case 7, 8:
      var books = ids.filter { _ in random.chance(density) }.map(book)
      let best = random.chance(50) ? books.popLast() : nil
      return .storeShelf(LayerShelf(id: id, name: "\(random.below(3))", books: books, best: best), stamp: stamp)
    case 9: return .renameShelf(id, "\(random.below(3))")
    case 10: return .takeFromShelf(id)
    case 11: return .addToShelf(id, book(other))
    case 12: return .setBest(id, random.chance(50) ? book(other) : nil)
    case 13: return .removeShelf(id)
    case 14: return .storeReader(id, "\(random.below(3))")
    case 15, 16: return .befriend(id, other)
    case 17: return .part(id, other)
    case 18: return .giveShelf(id, other)
    case 19: return .takeShelf(id)
    case 20: return .removeReader(id)
    case 21: return .feature(book(id))
    case 22: return random.chance(50) ? .unfeature : .uncollect
    case 23: return .collect(ids.filter { _ in random.chance(40) }.map(book))
    case 24: return .collectOne(book(id))
    default: return .refuseOdd(id)
    }
  }

  /// Stores again what the base has, or nearly that.
  private func again() -> LayerEdit? {
    let id = random.pick(Array(ids))
    let isSame = random.chance(60)
    switch random.below(4) {
    case 0: return model.base.books[id].map { .store($0, stamp: nil) }
    case 1, 2:
      guard let row = model.base.shelves[id] else { return nil }
      var shelf = model.base.shelf(id, row)
      if !isSame {
        switch random.below(3) {
        case 0: shelf.books.shuffle(using: &random)
        case 1: shelf.name = "\(random.below(3))"
        default: for i in shelf.books.indices.suffix(1) { shelf.books[i].likes = random.below(3) }
        }
      }
      return .storeShelf(shelf, stamp: nil)
    default:
      // What can be read in a transaction is the base, which is exposed by that.
      if isInTransaction { return nil }
      guard var reader = store.transaction({ $0.value(LayerReader.self, id: id) }) else { return nil }
      var changed: LayerBook?
      if !isSame {
        if random.chance(50) { reader.name = "\(random.below(3))" }
        if random.chance(50), reader.shelf?.books.isEmpty == false {
          reader.shelf?.books[0].likes = random.below(3)
          changed = reader.shelf?.books[0]
        }
      }
      return .storeReaderWhole(reader, changed: changed)
    }
  }

  private func book(_ id: Int) -> LayerBook {
    LayerBook(id: id, title: "\(random.below(3))", likes: random.below(3))
  }

  private func note(_ line: String) { log.append((isInTransaction ? "  " : "") + line) }

  // MARK: Comparing

  func failure() -> String? {
    compare(with: before, "what is shown")
    if random.chance(30) {
      try? store.transaction { _ in
        compare(with: model.base, "the base")
        if random.chance(50) { throw Refused() }
      }
    }
    for screen in screens { if let problem = screen.problem(before) { problems.append(problem) } }
    problems += store._checkInvariants()
    return problems.isEmpty ? nil : problems.joined(separator: "; ")
  }

  private func compare(with rows: LayersModel.Rows, _ place: String) {
    func expect<T: Equatable>(_ found: T, _ expected: T, _ what: String) {
      if found != expected { problems.append("\(place): \(what) is \(found), and not \(expected)") }
    }
    for id in ids {
      expect(store.value(LayerBook.self, id: id), rows.books[id], "book \(id)")
      expect(store.value(LayerShelf.self, id: id), rows.shelves[id].map { rows.shelf(id, $0) }, "shelf \(id)")
      expect(store.value(LayerReader.self, id: id).map(ReaderLook.init), rows.look(id), "reader \(id)")
    }
    expect(store.find(named: .featured).value, rows.featured.flatMap { rows.books[$0] }, "featured")
    expect(store.find(named: .shelved).value, rows.favourites?.compactMap { rows.books[$0] }, "favourites")
  }
}

/// What can be compared of a reader.
struct ReaderLook: Equatable {
  var name: String
  var friends: [String]
  var shelf: LayerShelf?

  init(_ reader: LayerReader) {
    (name, shelf) = (reader.name, reader.shelf)
    friends = reader.friends.map { "\($0.id) \($0.name)" }
  }

  init(name: String, friends: [String], shelf: LayerShelf?) {
    (self.name, self.friends, self.shelf) = (name, friends, shelf)
  }
}

extension LayersModel.Rows {
  func shelf(_ id: Int, _ shelf: LayersModel.Shelf) -> LayerShelf {
    LayerShelf(
      id: id, name: shelf.name, books: shelf.books.compactMap { books[$0] }, best: shelf.best.flatMap { books[$0] })
  }

  func look(_ id: Int) -> ReaderLook? {
    readers[id].map { reader in
      ReaderLook(
        name: reader.name, friends: reader.friends.map { "\($0) \(readers[$0]?.name ?? "")" },
        shelf: reader.shelf.flatMap { id in shelves[id].map { shelf(id, $0) } })
    }
  }
}

// MARK: Observers

private protocol AnyScreen {
  func forget()
  func problem(_ rows: LayersModel.Rows) -> String?
}

/// An observer, what it is to show, and what it was told.
private final class Screen<Value: Equatable & Sendable>: AnyScreen {
  private let told = Log<Value>()
  private let subscription: Subscription
  private let expected: (LayersModel.Rows) -> Value
  private var last: Value?

  init(_ observer: EntityObserver<Value>, _ expected: @escaping (LayersModel.Rows) -> Value) {
    self.expected = expected
    subscription = observer.observe { [told] in told.append($0) }
    last = told.last
  }

  func forget() {
    last = told.last ?? last
    told.clear()
  }

  func problem(_ rows: LayersModel.Rows) -> String? {
    let value = expected(rows)
    let calls = told.values
    let wanted = value == last ? [] : [value]
    return calls == wanted ? nil : "an observer was told \(calls), and not \(wanted)"
  }
}

/// The same for a reader, of whose friends only the names can be known.
private final class ReaderScreen: AnyScreen {
  private let id: Int
  private let told = Log<LayerReader?>()
  private let subscription: Subscription
  private var last: LayerReader?
  private var rowsBefore = LayersModel.Rows()

  init(_ observer: EntityObserver<LayerReader?>, _ id: Int) {
    self.id = id
    subscription = observer.observe { [told] in told.append($0) }
  }

  func forget() {
    if let value = told.last { last = value }
    told.clear()
  }

  func problem(_ rows: LayersModel.Rows) -> String? {
    defer { rowsBefore = rows }
    let calls = told.values
    if calls.count > 1 { return "reader \(id) was told \(calls.count) times" }
    let shown = (calls.last ?? last).map(ReaderLook.init)
    if shown != rows.look(id) { return "reader \(id) was told \(String(describing: shown)) last" }
    if rows.shown == rowsBefore.shown, !calls.isEmpty { return "reader \(id) was told though nothing has changed" }
    return nil
  }
}
