import Concord
import Dispatch
import Foundation
import Synchronization
import Testing

/// Several threads do random steps on one store. Each step writes down, while its transaction is open, what it does; the
/// model does these steps one after the other, in the order of the commits. In the end both are compared, all that
/// observers were told meanwhile, and all that was read on other threads.
///
/// `CONCORD_RANDOM_THREAD_WORLDS` says how many worlds.
@Suite("Random operations on several threads")
struct RandomThreadsTests {
  static let settings = [
    RandomOperationsTests.Setting(stamping: .clock, makesCycles: true),
    RandomOperationsTests.Setting(stamping: .unstampedWritesWin, makesCycles: true),
    RandomOperationsTests.Setting(stamping: .unstampedWritesWin, makesCycles: true, isQueued: true),
  ]

  @Test("What threads did is what one of them could have done", arguments: settings)
  func serialOrder(_ setting: RandomOperationsTests.Setting) async {
    for seed in TestOptions.seeds(TestOptions.number("CONCORD_RANDOM_THREAD_WORLDS") ?? (TestOptions.isLong ? 20 : 8)) {
      let world = ThreadedWorld(setting)
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          DispatchQueue.concurrentPerform(iterations: ThreadedWorld.writers + ThreadedWorld.readers) { thread in
            world.run(thread, seed: seed)
          }
          continuation.resume()
        }
      }
      // What others committed while somebody delivered is told by a thread of its own.
      await world.settle()
      guard let fault = world.finish() else { continue }
      Issue.record("\(setting.testDescription), seed \(seed): \(fault)")
      return
    }
  }
}

/// A world that several threads work on.
private final class ThreadedWorld: Sendable {
  static let writers = 4
  static let readers = 2
  private static let stepsOfAThread = 60

  /// Used only while a transaction is open, so that nobody ever waits for it.
  private struct Guarded {
    var world: RandomWorld
    /// The steps, in the order of the commits.
    var journal: [Operation] = []
    /// What each of the handles that stay has shown, one after the other.
    var history: [Int: [Reading]] = [:]
    var fault: String?

    /// Remembers what the handles that stay show now.
    mutating func note() {
      for (handle, follower) in world.model.handles where handle < 0 {
        guard let reading = world.model.acceptable(follower).last, history[handle]?.last != reading else { continue }
        history[handle, default: []].append(reading)
      }
    }
  }

  private let setting: RandomOperationsTests.Setting
  private let store: EntityStore
  private let guarded: Mutex<Guarded>
  private let readers: [Int: @Sendable () -> Reading]
  private let unfinished = Atomic<Int>(ThreadedWorld.writers)
  private let seen = Mutex<[(handle: Int, readings: [Reading])]>([])

  init(_ setting: RandomOperationsTests.Setting) {
    self.setting = setting
    let world = setting.makeWorld()
    store = world.store
    // These stay, and are read and observed all the time; what else lives is up to the steps.
    let refs = [Ref(.tag, 0), Ref(.person, 0), Ref(.team, 0), Ref(.clan, 0), Ref(.album, 0)]
    let staying = refs.indices.map { Operation.observer(refs[$0], handle: -1 - $0) }
    let named = OperationGenerator.aliases.enumerated().map { Operation.findAlias($1, handle: -101 - $0) }
    var guarded = Guarded(world: world)
    var readers: [Int: @Sendable () -> Reading] = [:]
    for operation in staying + named {
      guard let handle = operation.handle else { continue }
      guarded.journal += [operation, .observe(handle: handle, subscription: handle, isPart: false)]
    }
    for operation in guarded.journal {
      do { try world.perform(operation) } catch { guarded.fault = "\(error)" }
      if let handle = operation.handle { readers[handle] = world.reader(of: handle) }
    }
    self.readers = readers
    guarded.note()
    self.guarded = Mutex(guarded)
  }

  func run(_ thread: Int, seed: UInt64) {
    if thread < Self.writers {
      write(thread, seed: seed)
      unfinished.subtract(1, ordering: .releasing)
    } else {
      read(seed: seed &+ UInt64(thread))
    }
  }

  // MARK: Writing

  private func write(_ thread: Int, seed: UInt64) {
    var generator = OperationGenerator(
      seed: seed &* 16 &+ UInt64(thread), makesCycles: setting.makesCycles, firstHandle: (thread + 1) * 1_000_000)
    for _ in 0..<Self.stepsOfAThread {
      if generator.random.chance(60) {
        store.transaction { _ in
          exclusively { guarded in
            let operation = generator.next(guarded.world.model, nesting: 1)
            guard operation.mayBeConcurrent else { return }
            guarded.journal.append(.transaction([operation], throwing: false))
            try guarded.world.performInside(operation)
          }
        }
      } else {
        let ref = generator.ref()
        _ = ref.kind.type.update(ref.id, in: store) {
          var edits: [Edit] = []
          exclusively { guarded in
            let value = guarded.world.model.read(ref)
            edits = try guarded.world.updateInside(ref, value.map { generator.someEdits(of: $0) } ?? [])
            guarded.journal.append(.update(ref, stamp: nil, edits: edits, inside: []))
          }
          return edits
        }
      }
    }
  }

  /// A transaction is open on this thread, so no other can be in here.
  private func exclusively(_ body: (inout Guarded) throws -> Void) {
    let isAlone: Void? = guarded.withLockIfAvailable { guarded in
      guard guarded.fault == nil else { return }
      do { try body(&guarded) } catch { guarded.fault = "\(error)" }
      guarded.note()
    }
    if isAlone == nil { guarded.withLock { $0.fault = "two transactions at once" } }
  }

  // MARK: Reading

  private func read(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var readings: [Int: [Reading]] = [:]
    let handles = readers.keys.sorted()
    repeat {
      let handle = random.pick(handles)
      guard let reading = readers[handle]?() else { continue }
      if readings[handle]?.last != reading { readings[handle, default: []].append(reading) }
    } while unfinished.load(ordering: .acquiring) > 0
    seen.withLock { $0 += readings.map { (handle: $0, readings: $1) } }
  }

  // MARK: Comparing

  func settle() async { await store.settled() }

  /// What is wrong, if something is.
  func finish() -> String? {
    guarded.withLock { guarded in
      if guarded.fault == nil {
        do { try guarded.world.finish() } catch { guarded.fault = "\(error)" }
      }
      for (handle, readings) in seen.withLock({ $0 }) where guarded.fault == nil {
        let history = guarded.history[handle] ?? []
        guard let reading = unexpected(readings, in: history) else { continue }
        guarded.fault = "handle \(handle) showed \(reading)\n  among    \(readings)\n  expected \(history)"
      }
      guard let fault = guarded.fault else { return nil }
      // A step that fails by itself is told with few others.
      let program = RandomProgram(setting: setting, operations: guarded.journal)
      if let failure = program.replay() {
        return "\(RandomProgram(setting: setting, operations: failure.operations).shortened(because: failure.reason))"
      }
      return "\(fault)\nonly with threads; the steps:\n\(guarded.journal.map { "  \($0)" }.joined(separator: "\n"))"
    }
  }

  /// The first reading that was not committed, or not after the one before it.
  private func unexpected(_ readings: [Reading], in history: [Reading]) -> Reading? {
    var rest = history[...]
    for reading in readings {
      guard let index = rest.firstIndex(of: reading) else { return reading }
      rest = rest[index...]
    }
    return nil
  }
}

extension Operation {
  /// The handle it makes.
  fileprivate var handle: Int? {
    switch self {
    case .observer(_, let handle), .findAlias(_, let handle): handle
    default: nil
    }
  }

  /// Whether what it does does not depend on whether earlier notices have been delivered: whoever unsubscribes during a
  /// callback keeps the entity until that is over.
  fileprivate var mayBeConcurrent: Bool {
    switch self {
    case .observe, .unsubscribe, .pause, .resume, .quiet: false
    case .transaction(let operations, _): operations.allSatisfy(\.mayBeConcurrent)
    default: true
    }
  }
}
