extension FetchPlan {
  func fetch(_ context: ContextCore) throws -> [T] { try finish(load(context)) }

  /// Loads what the stores find, which is to be finished.
  func load(_ context: ContextCore) throws -> Found {
    try context.read(model.contained(in: entity)) {
      $0.mayReadAgain()
      return try load($0, EntityLoader($0, model: model), isLast: entity.isOneRow)
    }
  }

  func count(_ context: ContextCore) throws -> Int {
    guard isExact else { return try fetch(context).count }
    return try context.read(condition.isOfRow ? [entity] : model.contained(in: entity)) {
      $0.mayReadAgain()
      if entity.isOneRow { $0.willReadOnce() }
      let reading = $0
      return try entity.evaluating { try reading.count(whole([])) }
    }
  }
}
