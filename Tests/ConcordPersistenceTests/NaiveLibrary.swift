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

    /// On top of what is stored.
    func shown(over stored: Record?) -> Record? {
      guard var record, let base, let stored, !isInsertedAgain, stored.fields != base.fields else { return record }
      for (name, field) in base.fields where record.fields[name] == field { record.fields[name] = stored.fields[name] }
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

  struct Context {
    var pending: [Key: Pending] = [:]
    var policy = MergePolicy.byStamp
  }

  var committed: [Key: Record] = [:]
  var contexts: [Context]
  /// After all stamps that a step gives.
  private var clock = 1_000_000.0

  init(contexts count: Int) { contexts = Array(repeating: Context(), count: count) }

  mutating func tick() -> Double {
    clock += 1
    return clock
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
    if !missing.isEmpty { remove(missing, context, stamp: nil) }
    for (key, pending) in contexts[context].pending where pending.record == nil && committed[key] == nil {
      contexts[context].pending[key] = nil
    }
  }

  // MARK: Changing

  mutating func insert(_ values: [(Key, [String: Field])], _ context: Int, stamp: Double?) {
    let stamp = stamp ?? tick()
    let view = view(context)
    for (key, fields) in values {
      let isKnown = contexts[context].pending[key]?.base != nil
      put(Record(fields: fields, stamp: stamp), key, context, found: isKnown ? view[key] : nil)
    }
  }

  private mutating func put(_ record: Record, _ key: Key, _ context: Int, found: Record?) {
    if let present = contexts[context].pending[key] {
      // What was removed is not remembered.
      guard present.record == nil || record.stamp > present.stamp else { return }
      contexts[context].pending[key] = Pending(
        base: present.base(below: found), record: record, stamp: record.stamp,
        isInsertedAgain: present.record == nil || present.isInsertedAgain)
    } else {
      contexts[context].pending[key] = Pending(base: found, record: record, stamp: record.stamp)
    }
  }

  /// Gives some properties new values. A key that is not seen is inserted with the fields of `whole`.
  mutating func edit(_ key: Key, _ changes: [String: Field], whole: [String: Field], _ context: Int, stamp: Double)
    -> Bool
  {
    guard var record = view(context)[key] else {
      put(Record(fields: whole, stamp: stamp), key, context, found: nil)
      return true
    }
    let found = record
    record.fields.merge(changes) { $1 }
    if record.fields == found.fields { return true }
    guard stamp > found.stamp else { return false }
    record.stamp = stamp
    put(record, key, context, found: found)
    return true
  }

  mutating func delete(_ key: Key, _ context: Int) -> Bool {
    let stamp = tick()
    guard view(context)[key] != nil else { return false }
    remove([key], context, stamp: stamp)
    return true
  }

  private mutating func remove(_ keys: Set<Key>, _ context: Int, stamp: Double?) {
    let before = view(context)
    var after = before
    Self.remove(keys, from: &after)
    for key in Set(before.keys).union(keys) where before[key] != after[key] || keys.contains(key) {
      if after[key] == nil, committed[key] == nil {
        contexts[context].pending[key] = nil
        continue
      }
      let present = contexts[context].pending[key]
      let newStamp = stamp ?? present?.stamp ?? tick()
      var record = after[key]
      record?.stamp = newStamp
      contexts[context].pending[key] = Pending(
        base: present.map { record == nil ? $0.base : $0.base(below: before[key]) } ?? committed[key], record: record,
        stamp: newStamp, isInsertedAgain: present?.isInsertedAgain ?? false)
    }
  }

  static func remove(_ keys: Set<Key>, from records: inout [Key: Record]) {
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
  }

  // MARK: Saving

  /// Whether it succeeded.
  mutating func save(_ context: Int) -> Bool {
    var saved = committed
    var removed: Set<Key> = []
    let policy = contexts[context].policy
    for (key, pending) in contexts[context].pending {
      guard let ours = pending.record else {
        guard let theirs = saved[key] else { continue }
        if pending.base == nil || pending.base != theirs {
          switch policy {
          case .error: return false
          case .storeTrump: continue
          case .byStamp: if !(pending.stamp > theirs.stamp) { continue }
          case .objectTrump: break
          }
        }
        removed.insert(key)
        continue
      }
      switch (saved[key], pending.base) {
      case (nil, nil): saved[key] = ours
      case (nil, _) where pending.isInsertedAgain: saved[key] = ours
      case (nil, _):
        if policy == .error { return false }
        if policy == .objectTrump { saved[key] = ours }
      case (let theirs?, nil):
        switch policy {
        case .error: if ours.fields != theirs.fields { return false }
        case .storeTrump: continue
        case .byStamp: if !(ours.stamp > theirs.stamp) { continue }
        case .objectTrump: break
        }
        saved[key] = Record(fields: ours.fields, stamp: max(ours.stamp, theirs.stamp))
      case (let theirs?, let base?):
        // Also with an older stamp: it was removed here and inserted again, and what was removed is not remembered.
        if theirs == base {
          saved[key] = ours
          continue
        }
        var merged = theirs
        for (name, field) in ours.fields
        where (pending.isInsertedAgain || field != base.fields[name]) && field != theirs.fields[name] {
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
    Self.remove(removed, from: &saved)
    let missing = Set(saved.values.flatMap { $0.fields.values.flatMap(\.keys) }).filter { saved[$0] == nil }
    Self.remove(missing, from: &saved)
    committed = saved
    contexts[context].pending = [:]
    return true
  }

  mutating func rollback(_ context: Int) { contexts[context].pending = [:] }
}
