import ConcordConnect
import Dispatch
import Foundation

extension Row {
  /// The fourth table: work.
  static var actions: [Row] { [actionBesideTask, actionBesideOperation, entityAction] + merges }

  private static let count = 2_000

  /// Does nothing but counting.
  private struct CountingAction: GenericAction {
    let done: Counter
    func execute() { done.add(1) }
  }

  private struct CountingEntityAction: EntityAction {
    typealias ManagedObjectType = Volume
    let done: Counter
    func execute(context: ActionContext) { done.add(1) }
  }

  private static func connect() throws -> GenericConnect<ContextStrategy.Direct> {
    let connect = GenericConnect<ContextStrategy.Direct>(name: "Volumes", model: try VolumeFile.model())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try connect.start()
    return connect
  }

  /// Executes so many, and waits until the last has finished and all are told.
  private static func actions(
    _ name: String, goal: Goal, floor: String,
    _ execute:
      @escaping (GenericConnect<ContextStrategy.Direct>, Counter, @escaping @Sendable () -> Void) throws -> Void,
    _ work: @escaping (Counter, DispatchGroup) -> Void
  ) -> Row {
    Row(name, goal: goal, floor: floor, repetitions: 15) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      let connect = try connect()
      return Sides {
        let done = Counter()
        let group = DispatchGroup()
        let time = try stopwatch.nanoseconds(per: count) {
          for _ in 0..<count {
            group.enter()
            try execute(connect, done) { group.leave() }
          }
          group.wait()
        }
        try expect(done.value, is: count, "actions")
        return time
      } floor: {
        let done = Counter()
        let group = DispatchGroup()
        let time = stopwatch.nanoseconds(per: count) {
          work(done, group)
          group.wait()
        }
        try expect(done.value, is: count, "pieces of work")
        return time
      }
    }
  }

  private static var actionBesideTask: Row {
    actions(
      "execute an action, 5 at a time, and hear of its end", goal: .none, floor: "a bare task, which ends a group"
    ) { connect, done, whenFinished in
      try connect.execute(CountingAction(done: done)) { _ in whenFinished() }
    } _: { done, group in
      for _ in 0..<count {
        group.enter()
        Task {
          done.add(1)
          group.leave()
        }
      }
    }
  }

  private static var actionBesideOperation: Row {
    actions(
      "the same, beside an operation", goal: .none,
      floor: "a BlockOperation in an OperationQueue, 5 at a time, whose completion block ends a group"
    ) { connect, done, whenFinished in
      try connect.execute(CountingAction(done: done)) { _ in whenFinished() }
    } _: { done, group in
      operate(limit: 5, done, group)
    }
  }

  private static var entityAction: Row {
    actions(
      "execute an action on entities, one after another", goal: .none,
      floor: "a BlockOperation in an OperationQueue, one at a time, whose completion block ends a group"
    ) { connect, done, whenFinished in
      try connect.execute(CountingEntityAction(done: done)) { _ in whenFinished() }
    } _: { done, group in
      operate(limit: 1, done, group)
    }
  }

  private static func operate(limit: Int, _ done: Counter, _ group: DispatchGroup) {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = limit
    for _ in 0..<count {
      group.enter()
      let operation = BlockOperation { done.add(1) }
      operation.completionBlock = { group.leave() }
      queue.addOperation(operation)
    }
  }
}
