import ConcordConnect

/// Looks for what keeps rows of the device's file: themselves, or rows that contain them at any depth.
///
/// What is found stays known, so nothing that keeps rows may change meanwhile. Rows may contain each other: what keeps one of them keeps its
/// strongly connected component, which Tarjan's algorithm finds.
struct RowKeepers {
  /// The reason why a row stays, the weakest first.
  enum Keeper: Int { case nothing, action, subscription }

  let model: Model
  let notes: RowNotes
  /// Entities that stay, as those that pending actions name.
  let held: Set<EntityKey>
  let subscriptions: [String]
  private var known: [EntityKey: Keeper] = [:]
  /// The rows whose component is not complete yet, and the place of each.
  private var open: [EntityKey] = []
  private var places: [EntityKey: Int] = [:]

  init(model: Model, notes: RowNotes, held: Set<EntityKey>, subscriptions: [String]) {
    (self.model, self.notes, self.held, self.subscriptions) = (model, notes, held, subscriptions)
  }

  private var reading: any RowReading { notes.writing }

  /// A row on the path from the row that was asked about.
  private struct Visit {
    let key: EntityKey
    /// The first place that it leads to, of those of open rows.
    var first: Int
    var keeper = Keeper.nothing
    /// The rows that contain it, and were not visited from here yet.
    var containers: [EntityKey] = []

    mutating func add(_ other: Keeper) { if other.rawValue > keeper.rawValue { keeper = other } }
  }

  /// Returns what keeps a row.
  ///
  /// - Complexity: the number of rows that contain it, up to the first that a subscription has. Those that were visited before are not visited again.
  mutating func keeper(of key: EntityKey) throws -> Keeper {
    if let keeper = known[key] { return keeper }
    var path = [try visit(key)]
    while var last = path.popLast() {
      if last.keeper == .subscription {
        // All that are open lead to it.
        close(from: 0, .subscription)
        break
      }
      if let next = last.containers.popLast() {
        if let keeper = known[next] { last.add(keeper) }
        if let place = places[next] { last.first = min(last.first, place) }
        let isNew = known[next] == nil && places[next] == nil
        path.append(last)
        if isNew { path.append(try visit(next)) }
        continue
      }
      if let place = places[last.key], last.first == place { close(from: place, last.keeper) }
      guard !path.isEmpty else { break }
      path[path.count - 1].first = min(path[path.count - 1].first, last.first)
      path[path.count - 1].add(last.keeper)
    }
    return known[key] ?? .nothing
  }

  /// Notes what keeps the open rows from a place on.
  private mutating func close(from place: Int, _ keeper: Keeper) {
    for key in open[place...] {
      known[key] = keeper
      places[key] = nil
    }
    open.removeSubrange(place...)
  }

  private mutating func visit(_ key: EntityKey) throws -> Visit {
    var visit = Visit(key: key, first: open.count)
    places[key] = open.count
    open.append(key)
    if held.contains(key) { visit.keeper = .action }
    // A row without the note of the server's was put there by the app's own code.
    if try isRoot(key) || notes.note(of: key) != "" {
      visit.keeper = .subscription
      return visit
    }
    for entity in model.entities where entity.mayReferTo(key.entity) {
      visit.containers += try reading.referrers(to: key, in: entity).map { EntityKey(entity, $0) }
    }
    return visit
  }

  private func isRoot(_ key: EntityKey) throws -> Bool {
    let name = key.noteName
    return try subscriptions.contains { try reading.note(NoteName(SyncNotes.roots(of: $0), name)) != nil }
  }
}
