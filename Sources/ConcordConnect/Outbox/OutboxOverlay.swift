import Concord
import ConcordPersistence

/// An overlay that shows forwarded actions above the stored state: a layer for each, in the order in which they were
/// forwarded.
///
/// Used within the view's transactions only, under its lock.
final class OutboxOverlay: ViewOverlay {
  private let model: Model
  private let registry: ActionRegistry
  private let report: @Sendable (any Error) -> Void
  private let state = Locked(State())

  private struct State {
    var versions: [StoreAttachment: OutboxVersion] = [:]
    var generation = 0
    /// The pending actions.
    var shown: [OutboxID: ShownAction] = [:]
    /// An upper bound of their ids; `nil` if there is none.
    var last: OutboxID?
    /// The pending actions of unregistered types.
    var unknown: [OutboxID: OutboxRow] = [:]
    /// The entities that the sending of an action changes in the stores. Actions without an entry are sent by another
    /// process.
    var written: [OutboxID: Set<EntityKey>] = [:]
    /// The action that was written here last, if nothing else was written since those that are shown.
    var next: ShownAction?
  }

  init(model: Model, registry: ActionRegistry, report: @escaping @Sendable (any Error) -> Void) {
    (self.model, self.registry, self.report) = (model, registry, report)
  }

  var isShowing: Bool { state.withLock { !$0.shown.isEmpty } }

  /// Notes what the sending of an action changes, before that can be seen.
  func willWrite(_ keys: Set<EntityKey>, for id: OutboxID) { state.withLock { $0.written[id] = keys } }

  /// Discards what the sending of an action was to change, since it was not written.
  func didNotWrite(_ id: OutboxID) { state.withLock { $0.written[id] = nil } }

  /// Discards the known versions, so that all rows are read the next time.
  func readAll() { state.withLock { $0.versions = [:] } }

  /// Notes an action that was written to an outbox, which need not be read for it if nothing else is new there.
  func didWrite(_ action: ShownAction) { state.withLock { $0.next = action } }

  /// The layers of some actions, as far as they are shown.
  func layers(of ids: Set<OutboxID>) -> [OptimisticLayer] {
    state.withLock { state in ids.sorted(by: >).compactMap { state.shown[$0]?.layer } }
  }

  func knownChange() -> ViewOverlayChange? {
    let next = state.withLock { state -> ShownAction? in
      defer { state.next = nil }
      guard let next = state.next, state.shown[next.id] == nil, state.last.map({ $0 < next.id }) ?? true,
        state.versions[next.id.attachment]?.isFollowed(by: next.id) ?? false
      else { return nil }
      return next
    }
    guard let next else { return nil }
    return ViewOverlayChange(needed: Set(next.keys)) { [self] store, _ in
      var action = show(next, in: store)
      hold(&action, in: store)
      state.withLock { state in
        state.versions[action.id.attachment] = OutboxVersion(epoch: action.id.epoch, number: action.id.number)
        state.shown[action.id] = action
        state.last = action.id
      }
    }
  }

  func change(_ reading: any RowReading) throws -> ViewOverlayChange? {
    let (known, knownGeneration) = state.withLock { ($0.versions, $0.generation) }
    let changes = try (reading as? any OutboxesReading)?.outboxes(after: known) ?? [:]
    let generation = registry.generation
    let versions = changes.mapValues(\.version)
    if versions == known, generation == knownGeneration, !changes.values.contains(where: \.isWhole) { return nil }
    let news = OverlayNews(changes)
    let found = state.withLock { find(news, generation, $0) }
    let new = (found.unknown.known.map { shown($1, $0) } + found.redone).sorted { $0.id < $1.id }

    let needed = new.reduce(into: Set<EntityKey>()) { $0.formUnion($1.keys) }
    var changed: Set<EntityKey> = []
    var concernsAll = false
    var stored: [ShownAction] = []
    // Detaching a store reports the end of its actions.
    for action in found.ended where news.isAttached(action.id) && news.state(action.id) ?? .sent == .sent {
      guard let written = found.written[action.id] else {
        concernsAll = true
        continue
      }
      changed.formUnion(written)
      guard news.state(action.id) == .sent, let layered = action.layeredKeys(beside: written, in: model) else {
        continue
      }
      // What the layer wrote in vain, as an update of an entity that only changes another one inside it, is not among the stored
      // changes. Once the layer is committed, it is compared with its row.
      changed.formUnion(layered)
      stored.append(action)
    }
    let gone = found.ended + found.redone
    var change = ViewOverlayChange(needed: needed, changed: changed, concernsAll: concernsAll) {
      [self] store, isKeptUpToDate in
      for action in gone.sorted(by: { $0.id > $1.id }) {
        // A view that is not kept up to date shows the stored change only where it is known.
        let isKept = news.state(action.id) == .sent && !isKeptUpToDate && found.written[action.id] == nil
        if isKept { action.layer?.commit() } else { action.layer?.rollBack() }
      }
      var made = new.map { show($0, in: store) }
      for index in made.indices where made[index].held.isEmpty { hold(&made[index], in: store) }
      state.withLock { state in
        (state.versions, state.generation) = (versions, generation)
        for action in gone { state.shown[action.id] = nil }
        if state.shown.isEmpty { state.last = nil }
        for action in made { state.shown[action.id] = action }
        if let last = made.last?.id { state.last = max(state.last ?? last, last) }
        for id in found.unknown.gone { state.unknown[id] = nil }
        for (id, row) in found.unknown.new { state.unknown[id] = row }
        for action in found.ended { state.written[action.id] = nil }
      }
    }
    // What is stored of them is read next. It is the same, unless another writer has written, and then the layers above stay as they are.
    change.begin = { isKeptUpToDate in
      guard isKeptUpToDate else { return }
      for action in stored.sorted(by: { $0.id < $1.id }) { action.layer?.commit() }
    }
    return change
  }

  /// The changes of the shown actions that follow from new rows. The shown actions, which may be many, are not walked
  /// unless all rows were read, or a new one stands between them.
  private struct Found {
    var ended: [ShownAction] = []
    /// Layers lie in order: those above one that comes between are made again.
    var redone: [ShownAction] = []
    var unknown = Unknown()
    /// The entities that the sending of ended actions has changed.
    var written: [OutboxID: Set<EntityKey>] = [:]

    /// The actions whose type was or is unregistered.
    struct Unknown {
      var known: [(OutboxID, any ForwardAction)] = []
      var new: [OutboxID: OutboxRow] = [:]
      var gone: [OutboxID] = []
    }
  }

  private func find(_ news: OverlayNews, _ generation: Int, _ state: State) -> Found {
    var found = Found()
    if news.mayHaveEndedUnnamed(state.versions) {
      found.ended = state.shown.values.filter { news.hasEnded($0.id) }
      found.unknown.gone = state.unknown.keys.filter(news.hasEnded)
    } else {
      let ended = news.rows.map(\.id).filter(news.hasEnded)
      found.ended = ended.compactMap { state.shown[$0] }
      found.unknown.gone = ended
    }
    for action in found.ended { found.written[action.id] = state.written[action.id] }
    // A type may be known by now. What was read anew is among the rows.
    let again =
      generation == state.generation
      ? [] : state.unknown.filter { !news.hasEnded($0.key) && news.state($0.key) == nil }.map { ($0, $1) }
    for (id, row) in news.rows.filter({ $0.row.state == .pending }) + again where state.shown[id] == nil {
      if let action = registry.action(row) {
        found.unknown.known.append((id, action))
        found.unknown.gone.append(id)
      } else {
        found.unknown.new[id] = row
      }
    }
    if let first = found.unknown.known.map(\.0).min(), let last = state.last, first < last {
      found.redone = state.shown.values.filter { $0.id > first && !news.hasEnded($0.id) }
    }
    return found
  }

  private func shown(_ action: any ForwardAction, _ id: OutboxID) -> ShownAction {
    var keys: [EntityKey] = []
    do { keys = try action.keys(in: model) } catch { report(error) }
    return ShownAction(id: id, action: action, keys: keys)
  }

  private func show(_ shown: ShownAction, in store: EntityStore) -> ShownAction {
    var shown = shown
    let action = shown.action
    // Its entities may come later, and the service decides whether it applies.
    shown.layer = store.optimisticallyWhenPossible { try action.apply(to: $0) }
    return shown
  }

  /// Keeps its entities in the view, now or when they come.
  private func hold(_ shown: inout ShownAction, in store: EntityStore) {
    shown.held = shown.keys.map { holding($0.entity.type, $0.id, store) }
  }

  private func holding<T: PersistentEntity>(_ type: T.Type, _ key: StoredValue, _ store: EntityStore) -> any Sendable {
    (try? T.id(storedKey: key)).map { store.keeper(type, id: $0) } ?? key
  }
}

/// A forwarded action shown above the stored state.
struct ShownAction: Sendable {
  let id: OutboxID
  let action: any ForwardAction
  /// The keys of its entities.
  let keys: [EntityKey]
  var layer: OptimisticLayer?
  /// The tokens that keep its entities in the view.
  var held: [any Sendable] = []

  /// Returns the keys of the entities that its layer writes beside some that are stored; `nil` if they are not known, or one of
  /// them is there only because of layers.
  func layeredKeys(beside stored: Set<EntityKey>, in model: Model) -> Set<EntityKey>? {
    func key<T: PersistentEntity>(_ type: T.Type, _ id: AnyHashable) -> EntityKey? {
      guard let entity = try? model.entity(type), let id = id.base as? T.ID else { return nil }
      return (try? T.storedKey(of: id)).map { EntityKey(entity, $0) }
    }
    guard let layered = layer?.writtenEntities else { return nil }
    var keys: Set<EntityKey> = []
    for entity in layered {
      guard let type = entity.type as? any PersistentEntity.Type, let key = key(type, entity.id) else { return nil }
      if stored.contains(key) { continue }
      guard entity.isInBase else { return nil }
      keys.insert(key)
    }
    return keys
  }
}

extension OutboxVersion {
  /// Whether an action is the first that was written after this version. A new action has the number of its version.
  func isFollowed(by id: OutboxID) -> Bool { self != .empty && epoch == id.epoch && number &+ 1 == id.number }
}

/// The rows read from all outboxes.
private struct OverlayNews {
  /// The rows, in order.
  let rows: [(id: OutboxID, row: OutboxRow)]
  private let states: [OutboxID: OutboxRow.State]
  private let changes: [StoreAttachment: OutboxChanges]

  init(_ changes: [StoreAttachment: OutboxChanges]) {
    self.changes = changes
    rows = changes.sorted { $0.key < $1.key }.flatMap { attachment, changes in
      changes.rows.map { row in
        (OutboxID(attachment: attachment, epoch: changes.version.epoch, number: row.number), row)
      }
    }
    states = Dictionary(rows.map { ($0.id, $0.row.state) }) { $1 }
  }

  func state(_ id: OutboxID) -> OutboxRow.State? { states[id] }
  func isAttached(_ id: OutboxID) -> Bool { changes[id.attachment] != nil }

  /// Whether an action that was pending is so no longer.
  func hasEnded(_ id: OutboxID) -> Bool {
    states[id].map { $0 != .pending } ?? changes[id.attachment]?.isWhole ?? true
  }

  /// Whether some may have ended that are not among the rows: they were cleared, or their store is detached.
  func mayHaveEndedUnnamed(_ known: [StoreAttachment: OutboxVersion]) -> Bool {
    changes.values.contains(where: \.isWhole) || known.keys.contains { changes[$0] == nil }
  }
}
