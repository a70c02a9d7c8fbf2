import ConcordModel

extension AggregationPlan {
  func load(_ context: ContextCore) throws -> Loaded {
    guard let aggregation else { return .entities(try fetch.load(context)) }
    let types = fetch.condition.isOfRow ? [entity] : context.model.contained(in: entity)
    return .measured(
      try context.read(types) {
        $0.mayReadAgain()
        let reading = $0
        return try entity.evaluating { try reading.aggregated(aggregation) }
      })
  }

  func explain(_ context: ContextCore) throws -> FetchExplanation {
    try context.read(context.model.contained(in: entity)) { reading in
      let fetched = try fetch.explain(reading)
      guard let aggregation else {
        let names = parts.filter { $0.measure == nil }.map(\.name) + (groupName.map { ["by \($0)"] } ?? [])
        return fetched.aggregating(.memory, also: names, fetched.steps, fetched.plan)
      }
      let found = try reading.explained(aggregation)
      return fetched.aggregating(
        found.isInStore ? .store : .memory, also: found.isInStore ? [] : parts.map(\.name), found.steps, found.plan)
    }
  }
}
