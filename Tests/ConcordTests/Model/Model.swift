/// A naive store: plain tables, everything recomputed after each step. It is written from the guarantees alone,
/// and the random test compares the real store with it.
struct Model {
  /// What is known of an entity: its own fields, and who stands in its relations.
  struct Record: Equatable {
    var data: Tree.Data
    var relations: [Relation<Ref>]
    var stamp: Double?
  }

  struct AliasName: Hashable, CustomStringConvertible {
    var kind: Kind
    var isCollection: Bool
    var name: Int
    var description: String { isCollection ? "[\(kind)]#\(name)" : "\(kind)#\(name)" }
  }

  struct Alias: Equatable {
    var refs: [Ref]
    var stamp: Double?
  }

  /// What a transaction that throws puts back.
  struct State {
    var records = [Record?](repeating: nil, count: Ref.count) {
      didSet { memo = Memo() }
    }
    var aliases: [AliasName: Alias] = [:]
    /// Entities that were written and are not `Equatable`: if nothing changed, the store may see that or not.
    var written: UInt64 = 0
    /// Entities that were removed with all others.
    var cleared: UInt64 = 0
    /// What was already computed for these records.
    fileprivate(set) var memo = Memo()
  }

  final class Memo {
    var reach: [UInt64]?
    var whole: [Ref: Tree] = [:]
    var brief: [Ref: Tree] = [:]
  }

  /// What a handle or a subscription follows.
  enum Target: Equatable {
    case entity(Ref), optional(Ref), alias(AliasName), list([Ref])
  }

  /// A handle or a subscription.
  struct Follower {
    var target: Target
    /// What it may show while its entity is not in the store.
    var last: [Reading] = []
    /// Whether what it follows was there before the open transaction began, or went in an earlier one.
    var isOfBefore = false
  }

  struct Subscription {
    var follower: Follower
    var isPart = false
    var isPaused = false
    var hasMissed = false
    var delivered: Reading?
  }

  /// A call an observer gets. Where the design leaves a choice there are several acceptable values, or none at all.
  struct Notice {
    var acceptable: [Reading]
    var isOptional = false
  }

  /// How fresh a write is.
  enum Freshness {
    case always
    case stamped(Double)
    /// Newer than what is stored.
    case clock(Double)
  }

  let unstampedWritesWin: Bool
  var state = State()
  var committed = State()
  var depth = 0
  /// What the store is told of the date.
  var date = 0.5
  private var clock = -Double.infinity
  var handles: [Int: Follower] = [:]
  var subscriptions: [Int: Subscription] = [:]
  /// Who was let go of in the open transaction.
  var droppedInside: [Follower] = []
  var notices: [Int: [Notice]] = [:]

  init(unstampedWritesWin: Bool) { self.unstampedWritesWin = unstampedWritesWin }

  func contains(_ ref: Ref) -> Bool { state.records[ref.index] != nil }

  /// Whether an entity is stored, with a relation at a place.
  func hasRelation(_ place: Int, of ref: Ref) -> Bool {
    state.records[ref.index].map { $0.data.plain[place] == nil } ?? false
  }

  // MARK: - Writing

  /// The date is another one, perhaps an earlier one.
  mutating func setDate(_ date: Double) {
    self.date = date
    _ = freshness(nil)
  }

  mutating func freshness(_ stamp: Double?) -> Freshness {
    if let stamp { return .stamped(stamp) }
    if unstampedWritesWin { return .always }
    clock = max(date, clock.nextUp)
    return .clock(clock)
  }

  func isNewer(_ freshness: Freshness, than stamp: Double?) -> Bool {
    switch (freshness, stamp) {
    case (.always, _), (.clock, _), (_, nil): true
    case (.stamped(let new), let old?): new > old
    }
  }

  /// `store` of one entity or of several, with or without an alias. `handle` keeps the result. Returns `false` when
  /// the design leaves the outcome open; then nothing is changed.
  @discardableResult
  mutating func store(
    _ values: [Tree], named alias: AliasName? = nil, stamp: Double? = nil, edits: [Edit]? = nil, handle: Int? = nil,
    asList: Bool = false
  ) -> Bool {
    let base = self
    var occurrences = Occurrence.all(in: values, model: base)
    var isChange: (Occurrence) -> Bool = { _ in false }
    if let edits, let root = values.first, contains(root.ref) {
      let result = edits.applied(to: root)
      if result.ref != root.ref { return false }
      let forms = Forms(of: [root])
      isChange = forms.differs
      occurrences = Occurrence.all(in: [result], given: [root], forms: forms, model: base)
      if hasConflictWithStored(occurrences, forms) || forms.areOpen(for: occurrences) { return false }
    }
    guard let winners = winners(among: occurrences, preferring: isChange) else { return false }
    let freshness = freshness(stamp)
    begin()
    for winner in winners { write(winner, freshness) }
    let refs = values.map(\.ref)
    if let alias { point(alias, to: refs, freshness) }
    if requiresItself {
      self = base
      return false
    }
    if let handle { keep(asList ? .list(refs) : .entity(refs[0]), as: handle) }
    commit()
    return true
  }

  enum UpdateOutcome: Equatable { case taken(Bool), open }

  /// `update`: `inside` runs where the closure runs.
  mutating func update(
    _ ref: Ref, stamp: Double?, edits: [Edit], inside: (inout Model) -> Void = { _ in }
  ) -> UpdateOutcome {
    guard let record = state.records[ref.index] else { return .taken(false) }
    let base = self
    let freshness = freshness(stamp)
    guard isNewer(freshness, than: record.stamp), let value = read(ref) else { return .taken(false) }
    let result = edits.applied(to: value)
    guard let changes = changes(from: [value], to: [result]) else { return .open }
    begin()
    inside(&self)
    if result.ref == ref { write(changes, to: [result], root: ref, freshness) }
    if requiresItself {
      self = base
      return .open
    }
    commit()
    return .taken(result.ref == ref)
  }

  /// `update(named:)`, of an entity or a collection.
  mutating func update(named name: AliasName, stamp: Double?, edits: [Edit]) -> UpdateOutcome {
    guard let alias = state.aliases[name] else { return .taken(false) }
    let base = self
    let freshness = freshness(stamp)
    let given = alias.refs.compactMap(read)
    let result: [Tree]
    if name.isCollection {
      guard isNewer(freshness, than: alias.stamp) else { return .taken(false) }
      result = edits.applied(toAll: given)
    } else {
      guard let ref = alias.refs.first, let record = state.records[ref.index] else { return .taken(false) }
      guard isNewer(freshness, than: record.stamp) else { return .taken(false) }
      result = given.map(edits.applied(to:))
      if let new = result.first?.ref, new != ref {
        guard isNewer(freshness, than: alias.stamp) else { return .open }
        if let other = state.records[new.index], !isNewer(freshness, than: other.stamp) { return .open }
        // Whether an entity found under the new id just as it is gets the stamp is left open.
        if let root = Occurrence.all(in: result).first, let stored = read(new), root.isSame(as: stored) {
          return .open
        }
      }
    }
    guard let changes = changes(from: given, to: result, renamed: !name.isCollection) else { return .open }
    begin()
    write(changes, to: result, root: name.isCollection ? nil : result.first?.ref, freshness)
    point(name, to: result.map(\.ref), freshness)
    if requiresItself {
      self = base
      return .open
    }
    commit()
    return .taken(true)
  }

  /// Whether `ifPresent` put something at a new place as it is stored, and the call holds other values of it: which of
  /// them wins is left open.
  private func hasConflictWithStored(_ occurrences: [Occurrence], _ forms: Forms) -> Bool {
    occurrences.contains { occurrence in
      let ref = occurrence.tree.ref
      let stored = [read(ref), brief(ref)].compactMap { $0 }
      return !forms.contains(ref) && stored.contains(where: occurrence.isSame)
        && occurrences.contains { $0.tree.ref == ref && !$0.saysSame(as: occurrence) }
    }
  }

  /// What a closure changed, compared with what it was given, and, at new places, with what is stored. `nil` when the
  /// design leaves it open.
  private func changes(from given: [Tree], to result: [Tree], renamed isRenamed: Bool = false) -> [Occurrence]? {
    var forms = Forms()
    for ref in Set(Occurrence.all(in: given + result).map(\.tree.ref)) {
      for form in [read(ref), brief(ref)] { if let form { forms.add(form) } }
    }
    let occurrences = Occurrence.all(in: result, given: given, forms: forms, renamed: isRenamed, model: self)
    return winners(among: occurrences, preferring: forms.differs, only: true)
  }

  /// Writes what a closure changed, and its target in any case.
  private mutating func write(
    _ changes: [Occurrence], to result: [Tree], root: Ref?, _ freshness: Freshness
  ) {
    for winner in changes { write(winner, freshness) }
    if let root, !changes.contains(where: { $0.tree.ref == root }), let target = Occurrence.all(in: result).first {
      write(target, freshness)
    }
  }

  private mutating func write(_ occurrence: Occurrence, _ freshness: Freshness) {
    let tree = occurrence.tree
    let old = state.records[tree.ref.index]
    if let old, !isNewer(freshness, than: old.stamp) { return }
    var record = Record(data: tree.data, relations: [], stamp: freshness.stamp(over: old?.stamp))
    for (place, relation) in tree.relations.enumerated() {
      var stored: Relation<Ref>?
      if let old, old.data.plain[place] == nil { stored = old.relations[place] }
      if !tree.isActive(place) {
        record.relations.append(Relation())
      } else if let said = occurrence.said(place), !occurrence.hidden.contains(place) {
        record.relations.append(said)
      } else {
        record.relations.append(stored ?? Relation(isNil: relation.isNil))
      }
    }
    if !tree.ref.kind.isEquatable { state.written |= tree.ref.bit }
    state.records[tree.ref.index] = record
  }

  private mutating func point(_ name: AliasName, to refs: [Ref], _ freshness: Freshness) {
    let old = state.aliases[name]
    guard let old else {
      state.aliases[name] = Alias(refs: refs, stamp: freshness.stamp(over: nil))
      return
    }
    guard isNewer(freshness, than: old.stamp) else { return }
    state.aliases[name] = Alias(refs: refs, stamp: freshness.stamp(over: old.stamp))
  }

  // MARK: - Removing

  mutating func remove(_ ref: Ref) -> Bool {
    guard contains(ref) else { return false }
    begin()
    var doomed = [ref]
    while let next = doomed.popLast() {
      guard contains(next) else { continue }
      state.records[next.index] = nil
      for (name, alias) in state.aliases where alias.refs.contains(next) {
        let rest = Alias(refs: alias.refs.filter { $0 != next }, stamp: alias.stamp)
        state.aliases[name] = name.isCollection ? rest : nil
      }
      for parent in allRefs where !takeOut(next, of: parent) { doomed.append(parent) }
    }
    commit()
    return true
  }

  /// Takes an entity out of all relations of a parent; `false` when it cannot be.
  private mutating func takeOut(_ ref: Ref, of parent: Ref) -> Bool {
    guard var record = state.records[parent.index] else { return true }
    for place in record.relations.indices {
      while let slot = record.relations[place].slots.firstIndex(where: { $0.child == ref }) {
        guard let rest = parent.kind.relationKinds[place].removing(slot, from: record.relations[place]) else {
          return false
        }
        record.relations[place] = rest
      }
    }
    state.records[parent.index] = record
    return true
  }

  mutating func removeAll() {
    begin()
    for ref in allRefs { state.cleared |= ref.bit }
    state.records = State().records
    state.aliases = [:]
    commit()
  }

  mutating func removeAlias(_ name: AliasName) {
    begin()
    state.aliases[name] = nil
    commit()
  }

  mutating func removeAllAlias() {
    begin()
    state.aliases = [:]
    commit()
  }

  var allRefs: [Ref] {
    state.records.indices.compactMap { state.records[$0] == nil ? nil : Ref(index: $0) }
  }
}

extension Model.Freshness {
  /// The stamp of what is written over something stored.
  func stamp(over stored: Double?) -> Double? {
    switch self {
    case .always: stored
    case .stamped(let stamp): stamp
    case .clock(let clock): stored.map { max(clock, $0.nextUp) } ?? clock
    }
  }
}
