import ConcordPersistence

/// What contexts should do, in the plainest way: everything is a dictionary, and every rule is applied to all of it.
struct NaiveLibrary {
  struct Key: Hashable {
    let type: String
    let id: String
  }

  enum Field: Equatable {
    case text(String)
    case number(Int?)
    case one(Key)
    case optional(Key?)
    case many([Key])

    var keys: [Key] {
      switch self {
      case .one(let key): [key]
      case .optional(let key): key.map { [$0] } ?? []
      case .many(let keys): keys
      default: []
      }
    }
  }

  struct Record: Equatable {
    var fields: [String: Field]
    var stamp: Double

    /// `nil` if it requires one of these.
    func without(_ gone: Set<Key>) -> Record? {
      var record = self
      for (name, field) in fields {
        switch field {
        case .one(let key) where gone.contains(key): return nil
        case .optional(let key?) where gone.contains(key): record.fields[name] = .optional(nil)
        case .many(let keys): record.fields[name] = .many(keys.filter { !gone.contains($0) })
        default: break
        }
      }
      return record
    }
  }

  struct Pending {
    var base: Record?
    var record: Record?
    var stamp: Double
    /// Whether it was to be removed before: all of it is the context's.
    var isInsertedAgain = false
    /// Whether the last change was given no stamp.
    var isUnstamped = false
    /// Whether it only stands inside of what was inserted.
    var isNested = false
    /// What lost entities that were deleted, and was not changed otherwise.
    var unlinked: Set<String> = []

    /// The latest given stamp of a deletion among the changes.
    var givenDeletion: Double?

    func isChanged(_ name: String) -> Bool {
      guard let record, let base, !isInsertedAgain else { return true }
      return record.fields[name] != base.fields[name]
    }
    func isEdited(_ name: String) -> Bool { !unlinked.contains(name) && isChanged(name) }

    /// On top of what is stored.
    func shown(over stored: Record?) -> Record? {
      guard var record, let base, let stored, stored.fields != base.fields else { return record }
      if !isInsertedAgain {
        for (name, field) in base.fields where record.fields[name] == field {
          record.fields[name] = stored.fields[name]
        }
      }
      record.stamp = max(record.stamp, stored.stamp)
      return record
    }

    /// What a change stands on that is made of what was seen.
    func base(below seen: Record?) -> Record? {
      guard let seen, let record, var base, !isInsertedAgain else { return base }
      for (name, field) in base.fields where record.fields[name] == field { base.fields[name] = seen.fields[name] }
      return base
    }
  }

  /// Changes in the order of the first change to each entity, in which they are saved.
  struct Changes: Sequence {
    private var keys: [Key] = []
    private var values: [Key: Pending] = [:]

    var isEmpty: Bool { values.isEmpty }

    subscript(key: Key) -> Pending? {
      get { values[key] }
      set {
        let old = values[key]
        values[key] = newValue
        if old == nil, newValue != nil { keys.append(key) }
        if newValue == nil { keys.removeAll { $0 == key } }
      }
    }

    func makeIterator() -> some IteratorProtocol<(Key, Pending)> {
      keys.lazy.compactMap { key in values[key].map { (key, $0) } }.makeIterator()
    }
  }

  struct Context {
    var pending = Changes()
    var policy = MergePolicy.byStamp
  }

  var committed: [Key: Record] = [:]
  /// The stamps of what was deleted.
  var deletions: [Key: Double] = [:]
  var contexts: [Context]
  /// After all stamps that a step gives, but for those that are ahead.
  private var clock = 1_000_000.0
  /// The last stamps that were given ahead of the clock, each for rows whose stamps lie close together.
  private var ahead: [Double] = []

  init(contexts count: Int) { contexts = Array(repeating: Context(), count: count) }

  mutating func tick() -> Double {
    clock += 1
    return clock
  }

  /// Later than the clock, than a stamp, and than all that were given after stamps that are as far ahead.
  private mutating func tick(after stamp: Double) -> Double {
    let next = tick()
    if next > stamp { return next }
    let known = ahead.firstIndex { $0 >= stamp && $0 < stamp + 1 }
    ahead.append((known.map { ahead.remove(at: $0) } ?? stamp).nextUp)
    if ahead.count > 64 { ahead.removeFirst() }
    return ahead.last ?? stamp
  }

  // MARK: Reading

  /// What a context sees.
  func view(_ context: Int) -> [Key: Record] {
    var view = committed
    for (key, pending) in contexts[context].pending { view[key] = pending.shown(over: committed[key]) }
    return view
  }

  /// Takes out what others have removed, and what is to be removed.
  mutating func reconcile(_ context: Int) {
    let view = view(context)
    let missing = Set(view.values.flatMap { $0.fields.values.flatMap(\.keys) }).filter { view[$0] == nil }
    if !missing.isEmpty { remove(missing, context, nil) }
    for (key, pending) in contexts[context].pending
    where pending.record == nil && committed[key] == nil && pending.givenDeletion == nil {
      contexts[context].pending[key] = nil
    }
  }

  // MARK: Changing

  mutating func insert(_ values: [(key: Key, fields: [String: Field], isNested: Bool)], _ context: Int, stamp: Double?)
  {
    let isUnstamped = stamp == nil
    let stamp = stamp ?? tick()
    let view = view(context)
    for (key, fields, isNested) in values {
      let isKnown = contexts[context].pending[key]?.base != nil
      put(Record(fields: fields, stamp: stamp), key, context, found: isKnown ? view[key] : nil, isUnstamped, isNested)
    }
  }

  private mutating func put(
    _ record: Record, _ key: Key, _ context: Int, found: Record?, _ isUnstamped: Bool, _ isNested: Bool = false
  ) {
    var record = record
    guard let present = contexts[context].pending[key] else {
      contexts[context].pending[key] = Pending(
        base: found, record: record, stamp: record.stamp, isUnstamped: isUnstamped, isNested: isNested)
      return
    }
    if isUnstamped, record.stamp <= present.stamp { record.stamp = tick(after: present.stamp) }
    guard record.stamp > present.stamp else { return }
    contexts[context].pending[key] = Pending(
      base: present.base(below: found), record: record, stamp: record.stamp,
      isInsertedAgain: present.record == nil || present.isInsertedAgain, isUnstamped: isUnstamped,
      isNested: present.isNested && isNested,
      unlinked: present.unlinked.filter { record.fields[$0] == present.record?.fields[$0] },
      givenDeletion: present.givenDeletion)
  }

  /// Gives some properties new values. A key that is not seen is inserted with the fields of `whole`.
  mutating func edit(_ key: Key, _ changes: [String: Field], whole: [String: Field], _ context: Int, stamp: Double)
    -> Bool
  {
    guard var record = view(context)[key] else {
      put(Record(fields: whole, stamp: stamp), key, context, found: nil, true)
      return true
    }
    let found = record
    record.fields.merge(changes) { $1 }
    if record.fields == found.fields { return true }
    record.stamp = stamp > found.stamp ? stamp : tick(after: found.stamp)
    put(record, key, context, found: found, true)
    return true
  }

  mutating func delete(_ key: Key, _ context: Int, stamp: Double?) -> Bool {
    let found = view(context)[key]
    guard let stamp else {
      if found != nil { remove([key], context, .new) }
      return found != nil
    }
    guard stamp > found?.stamp ?? -.infinity else { return false }
    if found != nil { remove([key], context, .given(stamp)) }
    var pending = contexts[context].pending[key] ?? Pending(base: nil, record: nil, stamp: stamp)
    pending.stamp = max(pending.stamp, stamp)
    pending.givenDeletion = max(pending.givenDeletion ?? stamp, stamp)
    contexts[context].pending[key] = pending
    return found != nil
  }

  private enum Deletion {
    case given(Double)
    case new
  }

  /// - Parameter deletion: `nil` if others have removed them.
  private mutating func remove(_ keys: Set<Key>, _ context: Int, _ deletion: Deletion?) {
    func stamp(after last: Double) -> Double? {
      switch deletion {
      case .given(let stamp): max(stamp, last)
      case .new: tick(after: last)
      case nil: nil
      }
    }

    let before = view(context)
    var after = before
    _ = Self.remove(keys, from: &after)
    for key in Set(before.keys).union(keys) where before[key] != after[key] || keys.contains(key) {
      let present = contexts[context].pending[key]
      if after[key] == nil, committed[key] == nil {
        // A given deletion is remembered.
        guard let present, let given = present.givenDeletion else {
          contexts[context].pending[key] = nil
          continue
        }
        if present.record == nil { continue }
        contexts[context].pending[key] = Pending(
          base: present.base, record: nil, stamp: stamp(after: present.stamp) ?? given,
          isInsertedAgain: present.isInsertedAgain, isNested: present.isNested, givenDeletion: given)
        continue
      }
      guard let record = after[key] else {
        let stored = committed[key]?.stamp ?? 0
        let last = max(stored, present?.stamp ?? stored)
        let newStamp = stamp(after: last) ?? present?.stamp ?? tick(after: stored)
        contexts[context].pending[key] = Pending(
          base: present.map { $0.base } ?? committed[key], record: nil, stamp: newStamp,
          isInsertedAgain: present?.isInsertedAgain ?? false, isNested: present?.isNested ?? false,
          givenDeletion: present?.givenDeletion)
        continue
      }
      // Its stamp stays.
      var pending = Pending(
        base: present.map { $0.base(below: before[key]) } ?? committed[key], record: record, stamp: record.stamp,
        isInsertedAgain: present?.isInsertedAgain ?? false, isUnstamped: present?.isUnstamped ?? false,
        isNested: present?.isNested ?? false,
        unlinked: present?.unlinked ?? [], givenDeletion: present?.givenDeletion)
      for (name, field) in record.fields where before[key]?.fields[name] != field {
        if !(present?.isEdited(name) ?? false) { pending.unlinked.insert(name) }
      }
      contexts[context].pending[key] = pending
    }
  }

  /// - Returns: all that was removed.
  static func remove(_ keys: Set<Key>, from records: inout [Key: Record]) -> Set<Key> {
    var gone = keys
    for key in gone { records[key] = nil }
    var isDone = false
    while !isDone {
      isDone = true
      for (key, record) in records {
        let rest = record.without(gone)
        if rest == record { continue }
        records[key] = rest
        isDone = false
        if rest == nil { gone.insert(key) }
      }
    }
    return gone
  }

  /// Removes entities with what requires them, and remembers that, one after the other from the latest.
  private mutating func delete(_ keys: [Key: Double], from records: inout [Key: Record], _ context: Int) {
    for (key, stamp) in keys.sorted(by: { $0.value > $1.value }) {
      let before = records
      for gone in Self.remove([key], from: &records) {
        guard let record = before[gone] else { continue }
        // What is inserted by the same save was not there before.
        if let pending = contexts[context].pending[gone], pending.record != nil, pending.base == nil { continue }
        let stamp = max(keys[gone] ?? stamp, record.stamp)
        deletions[gone] = max(stamp, deletions[gone] ?? stamp)
      }
    }
  }

  // MARK: Saving

  /// Whether it succeeded.
  mutating func save(_ context: Int) -> Bool {
    let before = deletions
    if trySave(context) { return true }
    deletions = before
    return false
  }

  private mutating func trySave(_ context: Int) -> Bool {
    var saved = committed
    var removed: [Key: Double] = [:]
    let policy = contexts[context].policy
    for (key, pending) in contexts[context].pending {
      guard let ours = pending.record else {
        guard let theirs = saved[key] else {
          deletions[key] = max(pending.stamp, deletions[key] ?? pending.stamp)
          continue
        }
        if pending.base == nil || pending.base != theirs {
          switch policy {
          case .error: return false
          case .storeTrump: continue
          case .byStamp: if !(pending.stamp > theirs.stamp) { continue }
          case .objectTrump: break
          }
        }
        removed[key] = pending.stamp
        continue
      }
      switch (saved[key], pending.base) {
      case (nil, let base) where base == nil || pending.isInsertedAgain:
        guard let deletion = deletions[key], deletion >= ours.stamp else {
          saved[key] = ours
          continue
        }
        if !pending.isUnstamped {
          if policy == .error { return false }
          if policy != .objectTrump { continue }
        }
        saved[key] = Record(fields: ours.fields, stamp: pending.isUnstamped ? tick(after: deletion) : deletion)
      case (nil, _):
        if !ours.fields.keys.contains(where: pending.isEdited) { continue }
        if policy == .error { return false }
        if policy == .objectTrump {
          saved[key] = Record(fields: ours.fields, stamp: max(ours.stamp, deletions[key] ?? ours.stamp))
        }
      case (let theirs?, nil):
        var stamp = max(ours.stamp, theirs.stamp)
        switch policy {
        case .error: if !pending.isNested || ours.fields != theirs.fields { return false }
        case .storeTrump: continue
        case .byStamp:
          if !(ours.stamp > theirs.stamp) {
            guard pending.isUnstamped, theirs.stamp > clock else { continue }
            stamp = tick(after: theirs.stamp)
          }
        case .objectTrump: break
        }
        saved[key] = Record(fields: ours.fields, stamp: stamp)
      case (let theirs?, let base?):
        if theirs == base {
          saved[key] = ours
          continue
        }
        var merged = theirs
        for (name, field) in ours.fields where pending.isEdited(name) {
          // Two writes of one property are a conflict, equal or not.
          if policy != .error, field == theirs.fields[name] { continue }
          if theirs.fields[name] != base.fields[name] {
            if policy == .error { return false }
            if policy == .storeTrump || policy == .byStamp && !(ours.stamp > theirs.stamp) { continue }
          }
          merged.fields[name] = field
        }
        merged.stamp = merged == theirs && !(ours.stamp > theirs.stamp) ? theirs.stamp : max(ours.stamp, theirs.stamp)
        saved[key] = merged
      }
    }
    delete(removed, from: &saved, context)
    let missing = Set(saved.values.flatMap { $0.fields.values.flatMap(\.keys) }).filter { saved[$0] == nil }
    delete(
      Dictionary(uniqueKeysWithValues: missing.map { ($0, deletions[$0] ?? -.infinity) }), from: &saved, context)
    committed = saved
    contexts[context].pending = Changes()
    return true
  }

  mutating func rollback(_ context: Int) { contexts[context].pending = Changes() }
}
