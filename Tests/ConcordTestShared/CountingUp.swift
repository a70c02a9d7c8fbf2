import Concord
public import ConcordPersistence

/// Adds one to a number in a container, many times, so that each conflict is answered by trying again.
public final class CountingUp<Strategy: ContextStrategyType>: Sendable {
  public let container: GenericPersistentContainer<Strategy>
  private let givenUp: Locked<Int>

  /// - Parameter attach: attaches the store.
  public init(_ strategy: Strategy.Type, attach: (any PersistentContainer) throws -> Void) throws {
    let givenUp = Locked(0)
    self.givenUp = givenUp
    container = GenericPersistentContainer(name: "Process", model: try processModel()) { error in
      guard let error = error as? BackgroundSaveError, !error.isPending else { return }
      givenUp.withLock { $0 += error.changes.count { $0.key.entity.name == "Progress" } }
    }
    try attach(container)
  }

  /// Adds one.
  public func addOne(_ context: BackgroundContext) throws {
    context.mergePolicy = .error
    try repeating {
      try context.update(Progress.self, id: 0) { $0.last += 1 }
    } save: {
      try context.save()
    } rollback: {
      context.rollback()
    }
  }

  /// Adds one by the view.
  public func addOneInView() throws {
    let view = container.viewContext
    view.mergePolicy = .error
    try repeating {
      try view.update(Progress.self, id: 0) { $0.last += 1 }
    } save: {
      try view.save()
    } rollback: {
      view.rollback()
    }
  }

  private func repeating(_ change: () throws -> Void, save: () throws -> Void, rollback: () -> Void) throws {
    while true {
      do {
        try change()
        return try save()
      } catch StoreError.conflict {
        rollback()
      }
    }
  }

  /// Writes all, and adds again what could not be written.
  public func finish() async throws {
    let context: BackgroundContext = container.newBackgroundContext()
    while true {
      try await container.flush()
      // Errors are told after that.
      try await Task.sleep(for: .milliseconds(20))
      let lost = givenUp.withLock { count in
        defer { count = 0 }
        return count
      }
      if lost == 0 { return }
      for _ in 0..<lost { try addOne(context) }
    }
  }
}
