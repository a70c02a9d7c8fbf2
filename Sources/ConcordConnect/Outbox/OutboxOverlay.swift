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

  func change(_ reading: any RowReading, showing keys: Set<EntityKey>) throws -> ViewOverlayChange? {
    let now = state.withLock { $0 }
    let changes = try reading.outbox(after: now.version)
    let generation = registry.generation
    let returned = keys.isEmpty ? nil : now.shown.first { $0.mayApply(again: keys) }?.number
    if changes.version == now.version, !changes.isWhole, generation == now.generation, returned == nil { return nil }

    // What has ended, and what is new.
    var states: [Int64: OutboxRow.State] = [:]
    for row in changes.rows { states[row.number] = row.state }
    func hasEnded(_ number: Int64) -> Bool { states[number].map { $0 != .pending } ?? changes.isWhole }
    let ended = now.shown.filter { hasEnded($0.number) }
    var staying = ended.isEmpty ? now.shown : now.shown.filter { !hasEnded($0.number) }
    var unknown = now.unknown.filter { !hasEnded($0.key) }
    let rows = changes.rows.filter { $0.state == .pending } + (generation == now.generation ? [] : unknown.values)
    var begun: [ShownAction] = []
    for row in rows where staying.position(of: row.number) == nil {
      unknown[row.number] = row
      guard let action = registry.action(row) else { continue }
      unknown[row.number] = nil
      begun.append(try shown(action, row.number, reading))
    }

    // Layers lie in order: those above one that comes between are made again.
    let first = ([returned].compactMap { $0 } + begun.map(\.number)).min() ?? .max
    let kept = staying.firstIndex { $0.number >= first } ?? staying.count
    let redone = Array(staying[kept...])
    staying.removeSubrange(kept...)
    begun = try (begun + redone.map { try shown($0.action, $0.number, reading) }).sorted { $0.number < $1.number }

    var shownKeys = begun.reduce(into: Set<EntityKey>()) { $0.formUnion($1.keys) }
    var concernsAll = false
    for action in ended where states[action.number] ?? .sent == .sent {
      if let written = now.written[action.number] { shownKeys.formUnion(written) } else { concernsAll = true }
    }
    let (version, next, new) = (changes.version, (staying, unknown), begun)
    return ViewOverlayChange(keys: shownKeys, concernsAll: concernsAll) { [self] store, isKeptUpToDate in
      for action in (ended + redone).reversed() {
        // A view that is not kept up to date is not shown what was stored.
        let isSent = states[action.number] == .sent
        if isSent, !isKeptUpToDate { action.layer?.commit() } else { action.layer?.rollBack() }
      }
      let made = new.map { show($0, in: store) }
      state.withLock { state in
        (state.version, state.generation) = (version, generation)
        (state.shown, state.unknown) = (next.0 + made, next.1)
        for action in ended { state.written[action.number] = nil }
      }
    }
  }

  private func shown(_ action: any ForwardAction, _ number: Int64, _ reading: any RowReading) throws -> ShownAction {
    var keys: [EntityKey] = []
    do { keys = try action.keys(in: model) } catch { report(error) }
    let missing = try keys.filter { try reading.row(of: $0) == nil }
    return ShownAction(number: number, action: action, keys: keys, missing: Set(missing))
  }

  private func show(_ shown: ShownAction, in store: EntityStore) -> ShownAction {
    var shown = shown
    shown.held = shown.keys.map { holding($0.entity.type, $0.id, store) }
    let action = shown.action
    do { shown.layer = try store.optimistically { try action.apply(to: $0) } } catch { report(error) }
    return shown
  }

  /// Keeps an entity in the view, now or when it comes.
  private func holding<T: PersistentEntity>(_ type: T.Type, _ key: StoredValue, _ store: EntityStore) -> any Sendable {
    (try? T.id(storedKey: key)).map { store.observer(type, id: $0) as any Sendable } ?? key
  }
}

/// A forwarded action above what is stored.
struct ShownAction: Sendable {
  let number: Int64
  let action: any ForwardAction
  /// Its entities.
  let keys: [EntityKey]
  /// Those of them that were not stored when it was shown.
  let missing: Set<EntityKey>
  /// `nil` if the action does not apply to what is there.
  var layer: OptimisticLayer?
  /// What keeps its entities in the view.
  var held: [any Sendable] = []

  /// Whether it may apply otherwise, now that these are shown.
  func mayApply(again shown: Set<EntityKey>) -> Bool {
    if !missing.isEmpty, !missing.isDisjoint(with: shown) { return true }
    return layer == nil && keys.contains { shown.contains($0) }
  }
}

extension [ShownAction] {
  /// Where an action stands; the array is sorted.
  fileprivate func position(of number: Int64) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].number == number ? low : nil
  }
}
