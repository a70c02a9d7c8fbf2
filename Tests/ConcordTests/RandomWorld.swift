import Concord
import Dispatch
import Foundation
import Synchronization

/// What one observer was told.
final class Recorder: Sendable {
  private let readings = Mutex<[Reading]>([])
  func record(_ reading: Reading) { readings.withLock { $0.append(reading) } }
  func take() -> [Reading] {
    readings.withLock { readings in
      defer { readings = [] }
      return readings
    }
  }
}

/// A date that can be set.
final class SharedDate: Sendable {
  private let seconds = Mutex<Double>(0.5)
  var stamp: Stamp {
    get { seconds.withLock { $0 } }
    set { seconds.withLock { $0 = newValue } }
  }

  func date() -> Date { Date(timeIntervalSinceReferenceDate: stamp) }
}

/// A kept `EntityObserver`, whatever its type.
struct LiveHandle {
  var read: @Sendable () -> Reading
  var observe: (_ isPart: Bool, _ recorder: Recorder) -> Subscription

  init<Value>(_ observer: EntityObserver<Value>, _ reading: @escaping @Sendable (Value) -> Reading) {
    read = { reading(observer.value) }
    observe = { _, recorder in observer.observe { recorder.record(reading($0)) } }
  }

  init<T: ModelEntity>(entity observer: EntityObserver<T>) {
    self.init(observer) { .one($0.tree) }
    let part = T.part
    observe = { isPart, recorder in
      if isPart { return observer.observe(part) { recorder.record(.part($0)) } }
      return observer.observe { recorder.record(.one($0.tree)) }
    }
  }

  init<T: ModelEntity>(optional observer: EntityObserver<T?>) { self.init(observer) { .one($0?.tree) } }
  init<T: ModelEntity>(list observer: EntityObserver<[T]>) { self.init(observer) { .many($0.map(\.tree)) } }
  init<T: ModelEntity>(optionalList observer: EntityObserver<[T]?>) {
    self.init(observer) { .many($0.map { $0.map(\.tree) }) }
  }
}

/// The store and the model beside each other. Each step is done on both, and everything is compared.
final class RandomWorld {
  struct Divergence: Error, CustomStringConvertible {
    var description: String
  }

  private struct Undo: Error {}

  /// What is written so that the store looks at the date.
  private struct Hand: Identifiable { let id: Int }

  let store: EntityStore
  private let date: SharedDate
  private(set) var model: Model
  private var handles: [Int: LiveHandle] = [:]
  private var subscriptions: [Int: Listener] = [:]
  /// Where observers are called; before the writing call returns if there is none.
  private let queue: DispatchQueue?
  private var isSuspended = false
  /// Other threads use the store, too.
  private var isShared = false
  /// So many steps more are done without reading and comparing anything.
  private var quietSteps = 0

  /// A subscription, what it was told, and what it should be told.
  private struct Listener {
    var subscription: Subscription
    var recorder = Recorder()
    var told: [Reading] = []
    var expected: [Model.Notice] = []
  }

  init(stamping: EntityStore.Stamping, queue: DispatchQueue? = nil) {
    self.queue = queue
    let date = SharedDate()
    self.date = date
    store = EntityStore(
      delivery: queue.map { .queue($0) } ?? .immediate, stamping: stamping, date: { date.date() })
    if case .unstampedWritesWin = stamping {
      model = Model(unstampedWritesWin: true)
    } else {
      model = Model(unstampedWritesWin: false)
    }
  }

  deinit {
    if isSuspended { queue?.resume() }
  }

  // MARK: - Steps

  func perform(_ operation: Operation) throws {
    try step(operation)
    dropShortLists()
    if quietSteps > 0 {
      quietSteps -= 1
      return
    }
    try compare()
    if model.depth == 0, isTooLarge { try perform(.removeAll) }
  }

  private func step(_ operation: Operation) throws {
    switch operation {
    case .store(let tree, let alias, let stamp, let edits, let handle):
      try storeOne(tree, alias, stamp, edits, handle)
    case .storeRead(let ref, let stamp, let edits, let handle):
      guard let tree = model.read(ref) else { return }
      let value = edits.applied(to: tree)
      try storeOne(value, nil, stamp, nil, handle)
    case .storeMany(let trees, let alias, let stamp, let handle):
      guard let kind = trees.first?.ref.kind else { return }
      let name = alias.map { Model.AliasName(kind: kind, isCollection: true, name: $0) }
      guard model.store(trees, named: name, stamp: stamp, handle: handle, asList: true) else { return }
      keep(kind.type.storeAll(trees, in: store, alias, stamp), handle)
    case .update(let ref, let stamp, let edits, let inside):
      try update(ref, stamp, edits, inside)
    case .updateAlias(let name, let stamp, let edits):
      let outcome = model.update(named: name, stamp: stamp, edits: edits)
      guard case .taken(let expected) = outcome else { return }
      let got = name.kind.type.update(name, in: store, stamp, edits)
      if got != expected { throw Divergence(description: "update(named:) returned \(got), expected \(expected)") }
    case .remove(let ref):
      let expected = model.remove(ref)
      let got = ref.kind.type.remove(ref.id, in: store)
      if got != expected { throw Divergence(description: "remove returned \(got), expected \(expected)") }
    case .removeAlias(let name):
      model.removeAlias(name)
      name.kind.type.removeAlias(name, in: store)
    case .removeAllAlias:
      model.removeAllAlias()
      store.removeAllAlias()
    case .removeAll:
      model.removeAll()
      store.removeAll()
      // What was committed before, and others have not delivered yet, may be dropped.
      if isShared { model.makeNoticesOptional() }
    case .find(let ref, let handle):
      let found = ref.kind.type.find(ref.id, in: store)
      if (found != nil) != model.contains(ref) {
        throw Divergence(description: "find gave \(found?.read().description ?? "nothing")")
      }
      guard found != nil else { return }
      model.keep(.entity(ref), as: handle)
      handles[handle] = found
    case .observer(let ref, let handle):
      model.keep(.optional(ref), as: handle)
      handles[handle] = ref.kind.type.observer(ref.id, in: store)
    case .findAlias(let name, let handle):
      model.keep(.alias(name), as: handle)
      handles[handle] = name.kind.type.find(name, in: store)
    case .drop(let handle):
      model.drop(handle)
      handles[handle] = nil
    case .observe(let handle, let id, let isPart):
      try observe(handle, id, isPart)
    case .unsubscribe(let id):
      model.unsubscribe(id)
      subscriptions[id]?.subscription.unsubscribe()
      subscriptions[id] = nil
    case .pause(let id):
      model.subscriptions[id]?.isPaused = true
      subscriptions[id]?.subscription.pause()
    case .resume(let id):
      model.resume(id)
      subscriptions[id]?.subscription.resume()
    case .transaction(let operations, let isThrowing):
      try transaction(operations, isThrowing)
    case .setDate(let new):
      model.setDate(new)
      date.stamp = new
      // The store's clock looks at the date when it is asked, and may not have been since.
      store.store(Hand(id: 0))
    case .read(let ref):
      try compare(ref)
    case .quiet(let steps):
      quietSteps = steps
      if let queue, !isSuspended {
        queue.suspend()
        isSuspended = true
      }
    }
  }

  /// Does a step inside of a transaction that is open.
  func performInside(_ operation: Operation) throws {
    isShared = true
    defer { isShared = false }
    model.begin()
    try step(operation)
    dropShortLists()
    if isTooLarge { try step(.removeAll) }
    model.commit()
  }

  /// Does to the model what a closure will do to the store, and says what that is.
  func updateInside(_ ref: Ref, _ edits: [Edit]) throws -> [Edit] {
    guard model.contains(ref) else { throw Divergence(description: "update called back for \(ref)") }
    switch model.update(ref, stamp: nil, edits: edits) {
    case .taken(true): return edits
    case .taken(false): throw Divergence(description: "update called back though stale")
    case .open:
      _ = model.update(ref, stamp: nil, edits: [])
      return []
    }
  }

  /// What a handle shows, as anybody may read it.
  func reader(of handle: Int) -> (@Sendable () -> Reading)? { handles[handle]?.read }

  // A world whose values grow without bound says nothing more.
  private var isTooLarge: Bool { model.allRefs.contains { model.read($0)?.size ?? 0 > 400 } }

  /// Compares everything, after the last step.
  func finish() throws {
    quietSteps = 0
    try compare()
  }

  private func storeOne(_ tree: Tree, _ alias: Int?, _ stamp: Double?, _ edits: [Edit]?, _ handle: Int?) throws {
    let name = alias.map { Model.AliasName(kind: tree.ref.kind, isCollection: false, name: $0) }
    let isPresent = model.contains(tree.ref)
    guard model.store([tree], named: name, stamp: stamp, edits: edits, handle: handle) else { return }
    var calls = 0
    keep(tree.ref.kind.type.store(tree, in: store, alias, stamp, edits) { calls += 1 }, handle)
    if edits != nil && calls != (isPresent ? 1 : 0) {
      throw Divergence(description: "ifPresent called \(calls) times, present: \(isPresent)")
    }
  }

  private func update(_ ref: Ref, _ stamp: Double?, _ edits: [Edit], _ inside: [Operation]) throws {
    let kind = ref.kind.type
    var expectsCall = model.state.records[ref.index] != nil
    if expectsCall, let record = model.state.records[ref.index] {
      var copy = model
      expectsCall = copy.isNewer(copy.freshness(stamp), than: record.stamp)
    }
    // The inner steps run on the model now, on the store in the closure.
    var calls = 0
    var failure: (any Error)?
    let before = model
    let outcome = model.update(ref, stamp: stamp, edits: edits) { model in
      for operation in inside {
        if case .store(let tree, _, let stamp, _, let handle) = operation {
          model.store([tree], stamp: stamp, handle: handle)
        }
      }
    }
    guard case .taken(let expected) = outcome else {
      model = before
      return
    }
    let got = kind.update(ref.id, in: store, stamp, edits) { [self] in
      calls += 1
      for operation in inside {
        guard case .store(let tree, _, let stamp, _, let handle) = operation else { continue }
        keep(tree.ref.kind.type.store(tree, in: store, nil, stamp, nil) {}, handle)
        if kind.find(ref.id, in: store) == nil { failure = Divergence(description: "not found inside update") }
      }
    }
    if let failure { throw failure }
    if calls != (expectsCall ? 1 : 0) {
      throw Divergence(description: "update's closure called \(calls) times, expected \(expectsCall ? 1 : 0)")
    }
    if got != expected { throw Divergence(description: "update returned \(got), expected \(expected)") }
  }

  private func observe(_ handle: Int, _ id: Int, _ isPart: Bool) throws {
    guard let live = handles[handle], let follower = model.handles[handle] else { return }
    var isEntity = false
    if case .entity = follower.target { isEntity = true }
    guard model.observe(handle, as: id, isPart: isPart && isEntity) else { return }
    let recorder = Recorder()
    subscriptions[id] = Listener(subscription: live.observe(isPart && isEntity, recorder), recorder: recorder)
  }

  private func transaction(_ operations: [Operation], _ isThrowing: Bool) throws {
    let before = model
    model.begin()
    do {
      try store.transaction { _ in
        for operation in operations {
          do {
            try perform(operation)
          } catch let error as Undo {
            throw Divergence(description: "\(error)")
          }
        }
        if isThrowing { throw Undo() }
      }
      model.commit()
    } catch is Undo {
      model.rollBack(to: before)
      for id in subscriptions.keys where model.subscriptions[id] == nil { subscriptions[id] = nil }
      for id in handles.keys where model.handles[id] == nil { handles[id] = nil }
    }
  }

  private func keep(_ live: LiveHandle, _ handle: Int?) {
    if let handle { handles[handle] = live }
  }

  /// Whether a fixed list takes a removed element back when it is stored again is left open.
  private func dropShortLists() {
    func isShort(_ follower: Model.Follower) -> Bool {
      if case .list(let refs) = follower.target { !refs.allSatisfy(model.contains) } else { false }
    }
    for (id, follower) in model.handles where isShort(follower) {
      model.handles[id] = nil
      handles[id] = nil
    }
    for (id, subscription) in model.subscriptions where isShort(subscription.follower) {
      model.subscriptions[id] = nil
      subscriptions[id] = nil
    }
    model.release()
  }

  // MARK: - Comparing

  private func compare(_ ref: Ref) throws {
    let expected = model.read(ref)
    let got = ref.kind.type.find(ref.id, in: store)?.read()
    guard got != expected.map({ .one($0) }) else { return }
    throw Divergence(
      description:
        "\(ref)\n  expected \(expected?.description ?? "nothing")\n  got      \(got?.description ?? "nothing")")
  }

  private func compare() throws {
    for kind in Kind.allCases {
      for id in 0..<kind.population { try compare(Ref(kind, id)) }
    }
    for name in OperationGenerator.aliases {
      let expected = model.reading(.alias(name))
      let got = name.kind.type.find(name, in: store).read()
      if got != expected {
        throw Divergence(description: "alias \(name)\n  expected \(expected?.description ?? "")\n  got      \(got)")
      }
    }
    for (id, follower) in model.handles {
      guard let live = handles[id] else { throw Divergence(description: "no handle \(id)") }
      let expected = model.acceptable(follower)
      let got = live.read()
      guard !expected.contains(got) else { continue }
      throw Divergence(description: "handle \(id) of \(follower.target)\n  expected \(expected)\n  got      \(got)")
    }
    // Others may still be delivering what was committed before.
    if isShared { return }
    if isSuspended { queue?.resume() }
    isSuspended = false
    for id in subscriptions.keys {
      subscriptions[id]?.expected += model.notices[id] ?? []
      if let queue { try compareQueued(id, queue) } else { try compareNotices(id) }
    }
    model.notices = [:]
    guard model.depth == 0 else { return }
    let broken = store._checkInvariants()
    if !broken.isEmpty { throw Divergence(description: "invariants: \(broken)") }
  }

  private func compareNotices(_ id: Int) throws {
    guard let got = subscriptions[id]?.recorder.take(), let expected = subscriptions[id]?.expected else { return }
    subscriptions[id]?.expected = []
    // How many of those it got may be accounted for, given that optional ones may be missing.
    var counts: Set<Int> = [0]
    for notice in expected {
      let met = counts.filter { $0 < got.count && notice.acceptable.contains(got[$0]) }.map { $0 + 1 }
      counts = notice.isOptional ? counts.union(met) : Set(met)
    }
    if !counts.contains(got.count) { throw divergence(id, got, expected) }
  }

  /// On a queue an observer is told some of the committed states, in their order, and in the end the newest.
  private func compareQueued(_ id: Int, _ queue: DispatchQueue) throws {
    for attempt in 0... {
      let more = subscriptions[id]?.recorder.take() ?? []
      subscriptions[id]?.told += more
      guard let told = subscriptions[id]?.told, let expected = subscriptions[id]?.expected else { return }
      var rest = expected[...]
      for reading in told {
        guard let index = rest.firstIndex(where: { $0.acceptable.contains(reading) }) else {
          throw divergence(id, told, expected)
        }
        rest = rest[(index + 1)...]
      }
      // What resuming catches up with may have been told already.
      let newest = expected[(expected.lastIndex { !$0.isOptional } ?? 0)...]
      let isUpToDate = newest.isEmpty || newest.contains { $0.acceptable.contains { $0 == told.last } }
      // Of an entity that is gone when the turn comes nothing more is told.
      let isGone = model.subscriptions[id].map { model.committedReading($0.follower.target) == nil } ?? true
      if isUpToDate || isGone || model.subscriptions[id]?.isPaused == true { return }
      if attempt == 2_000 { throw divergence(id, told, expected) }
      queue.sync {}
      if attempt > 10 { usleep(100) }
    }
  }

  private func divergence(_ id: Int, _ got: [Reading], _ expected: [Model.Notice]) -> Divergence {
    let target = model.subscriptions[id]?.follower.target
    return Divergence(
      description: """
        notices of subscription \(id) of \(target.map { "\($0)" } ?? "nothing")
          expected \(expected.map { "\($0.acceptable)\($0.isOptional ? "?" : "")" })
          got      \(got)
        """)
  }
}
