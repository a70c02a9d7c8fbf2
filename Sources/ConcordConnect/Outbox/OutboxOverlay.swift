import Concord
import ConcordPersistence

/// Shows forwarded actions above what is stored: a layer for each, in the order in which they were forwarded.
///
/// Used within the view's transactions only, under its lock.
final class OutboxOverlay: ViewOverlay {
  private let model: Model
  private let registry: ActionRegistry
  private let report: @Sendable (any Error) -> Void
  private let state = Locked(State())

  private struct State {
    var version: OutboxVersion?
    var generation = 0
    /// Those that are pending, in order.
    var shown: [ShownAction] = []
    /// Those that are pending and whose type is not known.
    var unknown: [Int64: OutboxRow] = [:]
    /// What the sending of an action changes in the stores. Others are sent by another process.
    var written: [Int64: Set<EntityKey>] = [:]
  }

  init(model: Model, registry: ActionRegistry, report: @escaping @Sendable (any Error) -> Void) {
    (self.model, self.registry, self.report) = (model, registry, report)
  }

  var isShowing: Bool { state.withLock { !$0.shown.isEmpty } }

  /// Notes what the sending of an action changes, before that can be seen.
  func willWrite(_ keys: Set<EntityKey>, for number: Int64) { state.withLock { $0.written[number] = keys } }

  /// What is known is void: all is read the next time.
  func readAll() { state.withLock { $0.version = nil } }

  func change(_ reading: any RowReading) throws -> ViewOverlayChange? {
    let now = state.withLock { $0 }
    let changes = try reading.outbox(after: now.version)
    let generation = registry.generation
    if changes.version == now.version, !changes.isWhole, generation == now.generation { return nil }

    // What has ended, and what is new. Nothing is done with all that are shown, which may be many, unless all were read.
    var states: [Int64: OutboxRow.State] = [:]
    for row in changes.rows { states[row.number] = row.state }
    func hasEnded(_ number: Int64) -> Bool { states[number].map { $0 != .pending } ?? changes.isWhole }
    let ended =
      changes.isWhole
      ? now.shown.filter { hasEnded($0.number) }
      : changes.rows.compactMap { hasEnded($0.number) ? now.shown.action($0.number) : nil }.sorted {
        $0.number < $1.number
      }
    var unknown = now.unknown.filter { !hasEnded($0.key) }
    // A type may be known by now.
    let again = generation == now.generation ? [] : Array(unknown.values)
    let rows = changes.rows.filter { $0.state == .pending } + again
    var begun: [ShownAction] = []
    for row in rows where now.shown.action(row.number) == nil {
      unknown[row.number] = row
      guard let action = registry.action(row) else { continue }
      unknown[row.number] = nil
      begun.append(shown(action, row.number))
    }

    // Layers lie in order: those above one that comes between are made again.
    let first = begun.map(\.number).min() ?? .max
    let redone = now.shown[now.shown.position(of: first)...].filter { !hasEnded($0.number) }
    begun = (begun + redone).sorted { $0.number < $1.number }

    let needed = begun.reduce(into: Set<EntityKey>()) { $0.formUnion($1.keys) }
    var changed: Set<EntityKey> = []
    var concernsAll = false
    // Where there is no outbox any longer, its store is gone, and nothing can be read of it.
    for action in ended where changes.version != nil && states[action.number] ?? .sent == .sent {
      if let written = now.written[action.number] { changed.formUnion(written) } else { concernsAll = true }
    }
    let (version, written, stillUnknown, new) = (changes.version, now.written, unknown, begun)
    let gone = ended + redone
    let numbers = Set(gone.map(\.number))
    return ViewOverlayChange(needed: needed, changed: changed, concernsAll: concernsAll) {
      [self] store, isKeptUpToDate in
      for action in gone.reversed() {
        // A view that is not kept up to date is shown what was stored only where that is known.
        let isKept = states[action.number] == .sent && !isKeptUpToDate && written[action.number] == nil
        if isKept { action.layer?.commit() } else { action.layer?.rollBack() }
      }
      var made = new.map { show($0, in: store) }
      for index in made.indices where made[index].held.isEmpty { hold(&made[index], in: store) }
      state.withLock { state in
        (state.version, state.generation) = (version, generation)
        if !numbers.isEmpty { state.shown.removeAll { numbers.contains($0.number) } }
        state.shown += made
        state.unknown = stillUnknown
        for action in ended { state.written[action.number] = nil }
      }
    }
  }

  private func shown(_ action: any ForwardAction, _ number: Int64) -> ShownAction {
    var keys: [EntityKey] = []
    do { keys = try action.keys(in: model) } catch { report(error) }
    return ShownAction(number: number, action: action, keys: keys)
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

/// A forwarded action above what is stored.
struct ShownAction: Sendable {
  let number: Int64
  let action: any ForwardAction
  /// Its entities.
  let keys: [EntityKey]
  var layer: OptimisticLayer?
  /// What keeps its entities in the view.
  var held: [any Sendable] = []
}

// The array is sorted by number.
extension [ShownAction] {
  /// Where the first stands that is not before a number.
  fileprivate func position(of number: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  fileprivate func action(_ number: Int64) -> ShownAction? {
    let position = position(of: number)
    return position < count && self[position].number == number ? self[position] : nil
  }
}
