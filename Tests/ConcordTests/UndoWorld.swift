import Concord

struct UndoWriter: Identifiable, Equatable {
  let id: Int
  var name: Int
  var born: Int
}

struct UndoNovel: Aggregate, Equatable {
  let id: Int
  var title: Int
  var pages: Int
  var tags: Set<Int>
  var writer: UndoWriter
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.writer)] }
}

struct UndoShelf: Aggregate, Equatable {
  let id: Int
  var name: Int
  var novels: [UndoNovel]
  var best: UndoNovel?
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.novels), .init(\.best)] }
}

extension AliasKey where T == UndoNovel { static var undoPick: Self { "pick" } }
extension AliasKey where T == [UndoNovel] { static var undoList: Self { "list" } }

/// A store and a model that are written by somebody whose steps are recorded, and by others.
final class UndoWorld {
  private let store = EntityStore(delivery: .immediate)
  private var model = UndoModel()
  private var numbers: SeededGenerator
  private(set) var log: [String] = []
  /// Observers of all ids, so that entities go only if they are removed; in half of the worlds of shelves alone, so that all others go when
  /// no shelf, no alias and no layer retains them.
  private var observers: [Any] = []
  private let observesAll: Bool
  /// A pending change of the pages of a novel, shown above what is stored.
  private var layer: (layer: OptimisticLayer, novel: Int, pages: Int)?

  private static let ids = 0..<4

  init(seed: UInt64) {
    numbers = SeededGenerator(seed: seed)
    observesAll = seed.isMultiple(of: 2)
    for id in Self.ids {
      observers.append(store.observer(UndoShelf.self, id: id))
      guard observesAll else { continue }
      observers.append(store.observer(UndoWriter.self, id: id))
      observers.append(store.observer(UndoNovel.self, id: id))
    }
  }

  private func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &numbers) }
  private var anyID: Int { below(Self.ids.count) }

  // MARK: Steps

  func step() {
    defer { release() }
    switch below(20) {
    case 0..<7: mine()
    case 7..<11:
      log.append("others")
      store.transaction { write($0) }
    case 11..<15: revert(isRedo: false)
    case 15..<18: revert(isRedo: true)
    case 18: layered()
    default:
      log.append("end of group")
      store.undo.endGroup()
      if !model.undo.isEmpty { model.undo[model.undo.count - 1].group = nil }
    }
  }

  private func release() {
    if observesAll { return }
    dropLayer()
    model.release { key in
      switch key {
      case .shelf: true
      case .novel(let id): layer?.novel == id
      default: false
      }
    }
  }

  private func mine() {
    struct Failed: Error {}
    let group = below(3) == 0 ? below(2) : nil
    let (before, isFailing, isNested) = (model, below(8) == 0, below(4) == 0)
    log.append("mine\(group.map { ", group \($0)" } ?? "")\(isNested ? ", nested" : "")\(isFailing ? ", fails" : "")")
    do {
      if isNested {
        try store.transaction { tx in
          write(tx)
          let start = model.state
          tx.undo.record("step", joining: group) { write($0) }
          let inside = model.state
          // What the transaction does later is not a part of the step.
          write(tx)
          if isFailing { throw Failed() }
          let end = model.state
          model.state = inside
          model.record("step", group: group, from: start)
          model.state = end
        }
      } else {
        let start = model.state
        try store.undo.record("step", joining: group) { tx in
          for _ in 0...below(2) { write(tx) }
          if isFailing { throw Failed() }
        }
        model.record("step", group: group, from: start)
      }
    } catch { model = before }
  }

  private func revert(isRedo: Bool) {
    let expected = model.revert(isRedo: isRedo)
    let outcome: UndoModel.Outcome
    do {
      let result = try isRedo ? store.undo.redo() : store.undo.undo()
      outcome = .done(isWhole: result.conflicts.isEmpty)
      log.append("\(isRedo ? "redo" : "undo"): \(result.conflicts)")
    } catch .overtaken(_, let conflicts) {
      outcome = .overtaken
      log.append("\(isRedo ? "redo" : "undo") overtaken: \(conflicts)")
    } catch {
      outcome = .nothing
      log.append("\(isRedo ? "redo" : "undo"): \(error)")
    }
    if outcome != expected { problem = "the outcome is \(outcome), in the model \(expected)" }
  }

  private var problem: String?

  private func layered() {
    dropLayer()
    if let (layer, novel, pages) = layer {
      self.layer = nil
      switch below(3) {
      case 0:
        log.append("the layer goes")
        layer.rollBack()
      case 1:
        log.append("others commit the layer")
        layer.commit()
        model.state[.novel(novel)]?["pages"] = .number(pages)
      default:
        log.append("the layer is committed in a step")
        let start = model.state
        store.undo.record("step") { _ in _ = layer.commit() }
        model.state[.novel(novel)]?["pages"] = .number(pages)
        model.record("step", group: nil, from: start)
      }
      return
    }
    let (id, pages) = (anyID, 1_000 + below(10))
    guard model.state[.novel(id)] != nil else { return }
    log.append("layer: novel \(id) has \(pages) pages")
    layer = (store.optimistically { tx in tx.update(UndoNovel.self, id: id) { $0.pages = pages } }, id, pages)
  }

  /// A layer ends when its entity goes.
  private func dropLayer() { if let state = layer?.layer.state, !state.isPending { layer = nil } }

  // MARK: Writing

  private func write(_ tx: EntityStore) {
    let (id, other, number) = (anyID, anyID, below(6))
    switch below(17) {
    case 0:
      log.append("  writer \(id) named \(number)")
      tx.update(UndoWriter.self, id: id) { $0.name = number }
      set(.writer(id), "name", .number(number))
    case 1:
      log.append("  writer \(id) born \(number)")
      tx.update(UndoWriter.self, id: id) { $0.born = number }
      set(.writer(id), "born", .number(number))
    case 2:
      log.append("  novel \(id) titled \(number), pages")
      tx.update(UndoNovel.self, id: id) { ($0.title, $0.pages) = (number, number) }
      set(.novel(id), "title", .number(number))
      set(.novel(id), "pages", .number(number))
    case 3:
      log.append("  novel \(id) tagged \(number)")
      tx.update(UndoNovel.self, id: id) { $0.tags.formSymmetricDifference([number]) }
      if case .set(let tags)? = model.state[.novel(id)]?["tags"] {
        set(.novel(id), "tags", .set(tags.symmetricDifference([number])))
      }
    case 4:
      guard let writer = writer(other) else { return }
      log.append("  novel \(id) by \(other)")
      tx.update(UndoNovel.self, id: id) { $0.writer = writer }
      set(.novel(id), "writer", .one(.writer(other)))
    case 5, 6:
      let keys = Self.ids.shuffled(using: &numbers).filter { _ in below(2) == 0 }.filter { novel($0) != nil }
      log.append("  shelf \(id) has \(keys)")
      let novels = keys.compactMap { novel($0) }
      tx.update(UndoShelf.self, id: id) { $0.novels = novels }
      set(.shelf(id), "novels", .many(keys.map { .novel($0) }))
    case 7:
      let novel = below(3) == 0 ? nil : novel(other)
      log.append("  shelf \(id): best \(novel.map { "\($0.id)" } ?? "none")")
      tx.update(UndoShelf.self, id: id) { $0.best = novel }
      set(.shelf(id), "best", .one(novel.map { .novel($0.id) }))
    case 8:
      log.append("  remove writer \(id)")
      tx.remove(UndoWriter.self, id: id)
      model.remove(.writer(id))
    case 9:
      log.append("  remove novel \(id)")
      tx.remove(UndoNovel.self, id: id)
      model.remove(.novel(id))
    case 10:
      log.append("  remove shelf \(id)")
      tx.remove(UndoShelf.self, id: id)
      model.remove(.shelf(id))
    case 11:
      log.append("  store novel \(id), \(number), writer \(other)")
      let writer = writer(other) ?? UndoWriter(id: other, name: number, born: number)
      tx.store(UndoNovel(id: id, title: number, pages: number, tags: [number], writer: writer))
      put(writer)
      model.state[.novel(id)] = [
        "title": .number(number), "pages": .number(number), "tags": .set([number]), "writer": .one(.writer(other)),
      ]
    case 12:
      log.append("  store shelf \(id), \(number)")
      tx.store(UndoShelf(id: id, name: number, novels: [], best: nil))
      model.state[.shelf(id)] = ["name": .number(number), "novels": .many([]), "best": .one(nil)]
    case 13, 14, 15: add(other, to: id, number, tx)
    default: alias(tx, id)
    }
  }

  /// Inserts a novel into a shelf, which retains it.
  private func add(_ id: Int, to shelf: Int, _ number: Int, _ tx: EntityStore) {
    guard novel(id) == nil, case .many(let keys)? = model.state[.shelf(shelf)]?["novels"] else { return }
    let name = number % Self.ids.count
    log.append("  shelf \(shelf) gets the new novel \(id), \(number), writer \(name)")
    let known = writer(name)
    let writer = known ?? UndoWriter(id: name, name: number, born: number)
    let novel = UndoNovel(id: id, title: number, pages: number, tags: [], writer: writer)
    tx.update(UndoShelf.self, id: shelf) { shelf in
      if number.isMultiple(of: 2) { shelf.novels.append(novel) } else { shelf.best = novel }
    }
    if known == nil { put(writer) }
    model.state[.novel(id)] = [
      "title": .number(number), "pages": .number(number), "tags": .set([]), "writer": .one(.writer(name)),
    ]
    if number.isMultiple(of: 2) {
      set(.shelf(shelf), "novels", .many(keys + [.novel(id)]))
    } else {
      set(.shelf(shelf), "best", .one(.novel(id)))
    }
  }

  private func alias(_ tx: EntityStore, _ id: Int) {
    switch below(4) {
    case 0:
      log.append("  remove pick")
      tx.removeAlias(named: .undoPick)
      model.state[.pick] = nil
    case 1:
      guard let novel = novel(id) else { return }
      log.append("  pick \(id)")
      tx.store(novel, named: .undoPick)
      model.state[.pick] = ["content": .one(.novel(id))]
    case 2:
      log.append("  remove list")
      tx.removeAlias(named: .undoList)
      model.state[.list] = nil
    default:
      let keys = Self.ids.filter { _ in below(2) == 0 }.filter { novel($0) != nil }
      log.append("  list \(keys)")
      tx.store(keys.compactMap { novel($0) }, named: .undoList)
      model.state[.list] = ["content": .many(keys.map { .novel($0) })]
    }
  }

  private func set(_ key: UndoModel.Key, _ name: String, _ value: UndoModel.Property) {
    if model.state[key] != nil { model.state[key]?[name] = value }
  }

  private func put(_ writer: UndoWriter) {
    model.state[.writer(writer.id)] = ["name": .number(writer.name), "born": .number(writer.born)]
  }

  // MARK: Values of the model

  private func number(_ key: UndoModel.Key, _ name: String) -> Int? {
    if case .number(let number)? = model.state[key]?[name] { number } else { nil }
  }

  private func writer(_ id: Int) -> UndoWriter? {
    guard let name = number(.writer(id), "name"), let born = number(.writer(id), "born") else { return nil }
    return UndoWriter(id: id, name: name, born: born)
  }

  private func novel(_ id: Int, isShown: Bool = false) -> UndoNovel? {
    let key = UndoModel.Key.novel(id)
    guard let title = number(key, "title"), let pages = number(key, "pages"), let entity = model.state[key],
      case .set(let tags)? = entity["tags"], case .one(.writer(let name))? = entity["writer"], let writer = writer(name)
    else { return nil }
    let shown = isShown && layer?.novel == id ? layer?.pages : nil
    return UndoNovel(id: id, title: title, pages: shown ?? pages, tags: tags, writer: writer)
  }

  private func novels(_ property: UndoModel.Property?) -> [UndoNovel] {
    (property?.keys ?? []).compactMap { if case .novel(let id) = $0 { novel(id, isShown: true) } else { nil } }
  }

  private func shelf(_ id: Int) -> UndoShelf? {
    guard let name = number(.shelf(id), "name"), let entity = model.state[.shelf(id)] else { return nil }
    return UndoShelf(id: id, name: name, novels: novels(entity["novels"]), best: novels(entity["best"]).first)
  }

  /// Returns how the store differs from the model.
  func failure() -> String? {
    dropLayer()
    if let problem { return problem }
    for id in Self.ids {
      if let difference = difference("writer \(id)", store.value(UndoWriter.self, id: id), writer(id))
        ?? difference("novel \(id)", store.value(UndoNovel.self, id: id), novel(id, isShown: true))
        ?? difference("shelf \(id)", store.value(UndoShelf.self, id: id), shelf(id))
      {
        return difference
      }
    }
    if store.find(named: .undoPick).value != novels(model.state[.pick]?["content"]).first { return "the pick differs" }
    let list = model.state[.list].map { novels($0["content"]) }
    if store.find(named: .undoList).value != list { return "the list differs" }
    let steps = [store.undo.undoSteps.count, store.undo.redoSteps.count]
    return difference("the number of steps", steps, [model.undo.count, model.redo.count])
  }

  private func difference<Value: Equatable>(_ name: String, _ stored: Value?, _ expected: Value?) -> String? {
    if stored == expected { return nil }
    func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "nothing" }
    return "\(name) is \(text(stored)), in the model \(text(expected))"
  }
}
