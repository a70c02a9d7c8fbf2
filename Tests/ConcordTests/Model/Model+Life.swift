extension Model {
  // MARK: - Transactions

  mutating func begin() {
    if depth == 0 {
      committed = state
      (state.written, state.cleared) = (0, 0)
      droppedInside = []
    }
    rememberLast()
    depth += 1
  }

  mutating func commit() {
    depth -= 1
    rememberLast()
    guard depth == 0 else { return }
    forgetMissed()
    notify()
    release()
  }

  /// A transaction that throws: all is as it was when that transaction began, and the handles made in it are gone.
  mutating func rollBack(to before: Model) {
    state = before.state
    depth = before.depth
    handles = handles.filter { before.handles[$0.key] != nil }
    subscriptions = subscriptions.filter { before.subscriptions[$0.key] != nil }
    for id in handles.keys { handles[id]?.last = before.handles[id]?.last ?? [] }
    for id in subscriptions.keys { subscriptions[id]?.follower.last = before.subscriptions[id]?.follower.last ?? [] }
    release()
  }

  // MARK: - Life

  /// Forgets what nobody observes, no living parent contains and no alias names.
  mutating func release() {
    guard depth == 0 else { return }
    var living: UInt64 = 0
    let reach = reach()
    func keep(_ refs: [Ref]) {
      for ref in refs where contains(ref) { living |= ref.bit | reach[ref.index] }
    }
    for follower in handles.values { keep(follower.target.kept) }
    for subscription in subscriptions.values { keep(subscription.follower.target.kept) }
    for alias in state.aliases.values { keep(alias.refs) }
    for ref in allRefs where living & ref.bit == 0 { state.records[ref.index] = nil }
  }

  /// An observer of a removed entity keeps its last value; inside a transaction the design does not say which.
  mutating func rememberLast() {
    for id in handles.keys {
      guard var handle = handles[id] else { continue }
      remember(&handle)
      handles[id] = handle
    }
    for id in subscriptions.keys {
      guard var subscription = subscriptions[id] else { continue }
      remember(&subscription.follower)
      subscriptions[id] = subscription
    }
  }

  private func remember(_ follower: inout Follower) {
    guard case .entity(let ref) = follower.target else { return }
    if depth == 0 { follower.isOfBefore = true }
    guard let tree = read(ref) else { return }
    if depth == 0 { follower.last = [] }
    if follower.last.last != .one(tree) { follower.last.append(.one(tree)) }
  }

  mutating func keep(_ target: Target, as handle: Int) {
    var follower = Follower(target: target)
    if case .entity(let ref) = target { follower.isOfBefore = depth == 0 || committed.records[ref.index] != nil }
    remember(&follower)
    handles[handle] = follower
  }

  // MARK: - Observers

  /// What a handle may show now.
  func acceptable(_ follower: Follower) -> [Reading] {
    reading(follower.target).map { [$0] } ?? follower.last
  }

  /// What others see while a transaction is open.
  func committedReading(_ target: Target) -> Reading? {
    var model = self
    if depth > 0 { model.state = committed }
    return model.reading(target)
  }

  private func part(_ reading: Reading) -> Reading {
    if case .one(let tree?) = reading { .part(tree.own[0]) } else { reading }
  }

  /// `observe`. Returns `false` when the design leaves the first call open; then nothing is changed.
  mutating func observe(_ handle: Int, as id: Int, isPart: Bool) -> Bool {
    guard let follower = handles[handle] else { return false }
    if depth > 0, case .list = follower.target { return false }
    var subscription = Subscription(follower: follower, isPart: isPart)
    var before = self
    if depth > 0 { before.state = committed }
    var first: [Reading]
    if let reading = before.reading(follower.target) {
      first = [reading]
    } else if reading(follower.target) == nil, depth == 0 || follower.isOfBefore {
      first = follower.last
    } else if !wasEverShown(follower.target) {
      first = []
    } else {
      return false
    }
    if isPart { first = first.map(part) }
    if !first.isEmpty {
      notices[id, default: []].append(Notice(acceptable: first))
      subscription.delivered = first.last
    }
    subscriptions[id] = subscription
    return true
  }

  /// Whether somebody who is still there may have shown a value of before of what was removed since.
  private func wasEverShown(_ target: Target) -> Bool {
    func mayHaveShown(_ follower: Follower) -> Bool {
      if case .optional(let ref) = follower.target { return target == .entity(ref) }
      return follower.target == target && follower.isOfBefore
    }
    // What is let go of inside a transaction is kept until that ends.
    return handles.values.contains(where: mayHaveShown) || droppedInside.contains(where: mayHaveShown)
      || subscriptions.values.contains { mayHaveShown($0.follower) }
  }

  mutating func drop(_ handle: Int) {
    if depth > 0, let follower = handles[handle] { droppedInside.append(follower) }
    handles[handle] = nil
    release()
  }

  mutating func unsubscribe(_ id: Int) {
    if depth > 0, let subscription = subscriptions[id] { droppedInside.append(subscription.follower) }
    subscriptions[id] = nil
    release()
  }

  mutating func resume(_ id: Int) {
    guard var subscription = subscriptions[id], subscription.isPaused else { return }
    subscription.isPaused = false
    if subscription.hasMissed {
      subscription.hasMissed = false
      let now = acceptable(subscription.follower).map { subscription.isPart ? part($0) : $0 }
      // As in `notify`, an empty collection in place of one that was left out is no change that has to be told.
      let isSame = now.contains { $0.withoutOmissions == subscription.delivered?.withoutOmissions }
      notices[id, default: []].append(Notice(acceptable: now, isOptional: isSame))
      subscription.delivered = now.last
    }
    subscriptions[id] = subscription
  }

  /// After `removeAll` no notice of before needs to arrive.
  mutating func makeNoticesOptional() {
    for id in notices.keys { for index in notices[id]?.indices ?? 0..<0 { notices[id]?[index].isOptional = true } }
  }

  /// What an observer has missed during a pause goes with the entity, if it was removed with all others.
  private mutating func forgetMissed() {
    if state.cleared == 0 { return }
    for (id, subscription) in subscriptions where subscription.isPaused {
      switch subscription.follower.target {
      case .entity(let ref), .optional(let ref):
        if state.cleared & ref.bit != 0, committed.records[ref.index] != nil { subscriptions[id]?.hasMissed = false }
      case .alias, .list: break
      }
    }
  }

  /// Tells each observer whose value this transaction changed.
  private mutating func notify() {
    var before = self
    before.state = committed
    var changed = state.written
    for index in 0..<Ref.count {
      let (old, new) = (committed.records[index], state.records[index])
      if old?.data != new?.data || old?.relations != new?.relations { changed |= 1 << UInt64(index) }
    }
    for (id, subscription) in subscriptions {
      let target = subscription.follower.target
      guard let new = reading(target) else { continue }
      let old = before.reading(target)
      guard old != new || new.shows(changed) else { continue }
      var notice = Notice(acceptable: [new])
      // Nothing that is shown here has changed, or an empty collection is in place of one that was left out: who has an equal value is
      // told only if it shows what cannot be compared, and was written.
      if let old, old.withoutOmissions == new.withoutOmissions {
        if !subscription.isPaused, !new.shows(state.written) {
          // On a queue, whoever has not been told the earlier value yet is told this one in its place.
          if let last = notices[id]?.indices.last { notices[id]?[last].acceptable.append(new) }
          continue
        }
        notice.isOptional = true
      }
      if subscription.isPart {
        notice.acceptable = [part(new)]
        let isSame = notice.acceptable[0] == (old.map(part) ?? subscription.delivered)
        if isSame && !subscription.isPaused { continue }
      } else if old == nil, subscription.delivered == new {
        notice.isOptional = true
      }
      if subscription.isPaused {
        subscriptions[id]?.hasMissed = true
      } else {
        notices[id, default: []].append(notice)
        subscriptions[id]?.delivered = notice.acceptable.last
      }
    }
  }
}

extension Model.Target {
  var kept: [Ref] {
    switch self {
    case .entity(let ref), .optional(let ref): [ref]
    case .list(let refs): refs
    case .alias: []
    }
  }
}

extension Reading {
  /// The same with empty collections in place of those that were left out.
  var withoutOmissions: Reading {
    switch self {
    case .one(let tree): .one(tree?.withoutOmissions)
    case .many(let trees): .many(trees?.map(\.withoutOmissions))
    case .part: self
    }
  }

  /// Whether one of some entities stands in it.
  func shows(_ refs: UInt64) -> Bool {
    let trees: [Tree] =
      switch self {
      case .one(let tree): tree.map { [$0] } ?? []
      case .many(let trees): trees ?? []
      case .part: []
      }
    return Occurrence.all(in: trees).contains { refs & $0.tree.ref.bit != 0 }
  }
}
