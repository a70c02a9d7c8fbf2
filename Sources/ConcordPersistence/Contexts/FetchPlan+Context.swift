extension FetchPlan {
  func fetch(_ context: ContextCore) throws -> [T] {
    let found = try context.read(model.contained(in: entity)) { try load($0, EntityLoader($0, model: model)) }
    return try finish(found)
  }

  func count(_ context: ContextCore) throws -> Int {
    guard isExact else { return try fetch(context).count }
    return try context.read([entity]) { try $0.count(whole([])) }
  }
}
