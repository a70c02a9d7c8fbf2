import Concord
import ConcordModel
import Foundation

@testable import ConcordPersistence

/// A container whose steps can be undone, another one with the same store, and the naive model of both.
final class UndoSaveWorld {
  private let store: any RowStore
  private let container: any PersistentContainer
  private let other: GenericPersistentContainer<ContextStrategy.Direct>
  private var random: SeededGenerator
  private var model = UndoSaveModel()
  private var undo: [UndoSaveModel.Step] = []
  private var redo: [UndoSaveModel.Step] = []
  private var number = 0
  private(set) var log: [String] = []

  init(_ kind: StoreKind, _ strategy: StrategyKind, _ folder: URL, seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    let stored = try hymnModel()
    store = try kind.open(stored, in: folder)
    container = strategy.container(stored)
    other = GenericPersistentContainer<ContextStrategy.Direct>(name: "Other", model: stored)
    try container.persistentStoreCoordinator.attach(store, configuration: "")
    try other.persistentStoreCoordinator.attach(store, configuration: "")
  }

  func close() { try? store.close() }

  // MARK: Steps

  func step() async throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0...8: try record()
    case 9...12: try others()
    case 13...16: try revert(isRedo: false)
    default: try revert(isRedo: true)
    }
    // Others write to the store itself.
    try await container.flush()
    container.persistentStoreCoordinator.settle()
  }

  private func record() throws {
    let before = model
    let edits = randomEdits()
    log.append("record \(edits)")
    try container.undoManager.record("step") { view in
      for edit in edits { try edit.make(in: view, for: self) }
    }
    let step = UndoSaveModel.Step(from: before, to: model)
    if step.count == 0 { return }
    undo.append(step)
    redo = []
  }

  private func others() throws {
    let edits = randomEdits()
    let isElsewhere = Bool.random(using: &random)
    log.append("\(isElsewhere ? "another container" : "another context") \(edits)")
    let context = isElsewhere ? other.newBackgroundContext() : container.newBackgroundContext()
    for edit in edits { try edit.make(in: context, for: self) }
    try context.save()
  }

  private func revert(isRedo: Bool) throws {
    let manager = container.undoManager
    guard let step = isRedo ? redo.popLast() : undo.popLast() else { return }
    log.append("\(isRedo ? "redo" : "undo") \(step)")
    let before = model
    let expected = model.revert(step)
    var found: [UndoConflict] = []
    var isOvertaken = false
    do { found = try (isRedo ? manager.redo() : manager.undo()).conflicts } catch UndoError.overtaken(_, let conflicts)
    {
      (found, isOvertaken) = (conflicts, true)
    }
    let texts = found.map { "\($0.type) \($0.id) \($0.property ?? "-") \($0.reason)" }.sorted()
    if texts != expected { throw Different(text: "\(texts) stays, and in the model \(expected)") }
    let inverse = UndoSaveModel.Step(from: before, to: model)
    if isOvertaken != (inverse.count == 0 && !expected.isEmpty) { throw Different(text: "overtaken: \(isOvertaken)") }
    if inverse.count == 0 { return }
    if isRedo { undo.append(inverse) } else { redo.append(inverse) }
  }

  struct Different: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }

  // MARK: Edits

  enum Edit {
    case insert(Int), delete(Int), title(Int, String), stars(Int, Int), singer(Int, String?)
    /// Adds a verse at a place, or the end, or takes it out.
    case verse(Int, Int, place: Int?)
    case nameSinger(String, String), deleteSinger(String), textVerse(Int, String), deleteVerse(Int)
  }

  private func randomEdits() -> [Edit] { (0..<Int.random(in: 1...3, using: &random)).map { _ in randomEdit() } }

  private func randomEdit() -> Edit {
    number += 1
    let hymn = Int.random(in: 0..<3, using: &random)
    let (singer, verse) = (["a", "b"].randomElement(using: &random) ?? "a", Int.random(in: 0..<7, using: &random))
    return switch Int.random(in: 0..<20, using: &random) {
    case 0, 1: .insert(hymn)
    case 2: .delete(hymn)
    case 3, 4: .title(hymn, "t\(number)")
    case 5, 6: .stars(hymn, number)
    case 7, 8: .singer(hymn, Int.random(in: 0..<3, using: &random) == 0 ? nil : singer)
    case 9...14: .verse(hymn, verse, place: [0, 1, 2, 9, nil, nil].randomElement(using: &random) ?? nil)
    case 15: .nameSinger(singer, "n\(number)")
    case 16: .deleteSinger(singer)
    case 17: .textVerse(verse, "x\(number)")
    default: .deleteVerse(verse)
    }
  }

  /// Makes an edit in the model, and returns whether there is anything to do.
  fileprivate func note(_ edit: Edit) -> Bool {
    let before = model
    switch edit {
    case .insert(let id): if model.hymns[id] == nil { model.hymns[id] = .init() }
    case .delete(let id): model.hymns[id] = nil
    case .title(let id, let title): model.hymns[id]?.title = title
    case .stars(let id, let stars): model.hymns[id]?.stars = stars
    case .singer(let id, let singer):
      guard model.hymns[id] != nil else { break }
      model.hymns[id]?.singer = singer
      if let singer, model.singers[singer] == nil { model.singers[singer] = "new" }
    case .verse(let id, let verse, let place):
      guard let verses = model.hymns[id]?.verses, verses.contains(verse) != (place != nil) else { break }
      if let place {
        model.hymns[id]?.verses.insert(verse, at: min(place, verses.count))
        if model.verses[verse] == nil { model.verses[verse] = "new" }
      } else {
        model.hymns[id]?.verses.removeAll { $0 == verse }
      }
    case .nameSinger(let id, let name): if model.singers[id] != nil { model.singers[id] = name }
    case .deleteSinger(let id): model.removeSinger(id)
    case .textVerse(let id, let text): if model.verses[id] != nil { model.verses[id] = text }
    case .deleteVerse(let id): model.removeVerse(id)
    }
    return model != before
  }

  fileprivate func singer(_ id: String) -> Singer { Singer(id: id, name: model.singers[id] ?? "new") }
  fileprivate func verse(_ id: Int) -> Verse { Verse(id: id, text: model.verses[id] ?? "new", number: 0) }

  // MARK: Comparing

  func failure() async throws -> String? {
    let stored = BackgroundContext(parent: container.persistentStoreCoordinator)
    var found = UndoSaveModel()
    for singer in try stored.fetch(FetchDescriptor<Singer>()) { found.singers[singer.id] = singer.name }
    for verse in try stored.fetch(FetchDescriptor<Verse>()) { found.verses[verse.id] = verse.text }
    for hymn in try stored.fetch(FetchDescriptor<Hymn>()) {
      found.hymns[hymn.id] = .init(
        title: hymn.title, stars: hymn.stars, singer: hymn.singer?.id, verses: hymn.verses.map(\.id))
      let shown = try container.viewContext.find(Hymn.self, id: hymn.id)?.value
      if shown != hymn { return "\(String(describing: shown)) is shown instead of \(hymn)" }
    }
    if found != model { return "\(found) is stored instead of \(model)" }
    let manager = container.undoManager
    if manager.undoSteps.map(\.size) != undo.map(\.count) {
      return "\(manager.undoSteps.map(\.size)) can be undone instead of \(undo.map(\.count))"
    }
    if manager.redoSteps.map(\.size) != redo.map(\.count) {
      return "\(manager.redoSteps.map(\.size)) can be redone instead of \(redo.map(\.count))"
    }
    return nil
  }
}

extension UndoSaveWorld.Edit {
  /// Makes the edit, if there is anything to do.
  fileprivate func make(in context: some Edited, for world: UndoSaveWorld) throws {
    guard world.note(self) else { return }
    switch self {
    case .insert(let id): context.insert(Hymn(id: id))
    case .delete(let id): try context.delete(Hymn.self, id: id)
    case .title(let id, let title): try context.update(Hymn.self, id: id) { $0.title = title }
    case .stars(let id, let stars): try context.update(Hymn.self, id: id) { $0.stars = stars }
    case .singer(let id, let singer):
      let value = singer.map(world.singer)
      try context.update(Hymn.self, id: id) { $0.singer = value }
    case .verse(let id, let verse, let place):
      let value = world.verse(verse)
      try context.update(Hymn.self, id: id) { hymn in
        hymn.verses.removeAll { $0.id == verse }
        if let place { hymn.verses.insert(value, at: min(place, hymn.verses.count)) }
      }
    case .nameSinger(let id, let name): try context.update(Singer.self, id: id) { $0.name = name }
    case .deleteSinger(let id): try context.delete(Singer.self, id: id)
    case .textVerse(let id, let text): try context.update(Verse.self, id: id) { $0.text = text }
    case .deleteVerse(let id): try context.delete(Verse.self, id: id)
    }
  }
}

/// A view, or another context.
private protocol Edited {
  func insert<T: PersistentEntity>(_ entity: T, modifiedAt stamp: Stamp?)
  @discardableResult
  func update<T: PersistentEntity>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp?, _ body: (inout T) throws -> Void
  ) throws -> Bool
  @discardableResult
  func delete<T: PersistentEntity>(_ type: T.Type, id: T.ID, modifiedAt stamp: Stamp?) throws -> Bool
}

extension Edited {
  func insert<T: PersistentEntity>(_ entity: T) { insert(entity, modifiedAt: nil) }
  func update<T: PersistentEntity>(_ type: T.Type, id: T.ID, _ body: (inout T) throws -> Void) throws {
    try update(type, id: id, modifiedAt: nil, body)
  }
  func delete<T: PersistentEntity>(_ type: T.Type, id: T.ID) throws { try delete(type, id: id, modifiedAt: nil) }
}

extension BackgroundContext: Edited {}
extension ViewContext: Edited {}
