extension FetchPlan {
  func fetch(_ context: ContextCore) throws -> [T] {
    let found = try context.read(model.contained(in: entity)) {
      $0.mayReadAgain()
      return try load($0, EntityLoader($0, model: model), isLast: entity.isOneRow)
    }
    return try finish(found)
  }

  func count(_ context: ContextCore) throws -> Int {
    guard isExact else { return try fetch(context).count }
    return try context.read(condition.isOfRow ? [entity] : model.contained(in: entity)) {
      $0.mayReadAgain()
      if entity.isOneRow { $0.willReadOnce() }
      return try $0.count(whole([]))
    }
  }
}
