/// An explanation of a fetch: the part that the stores evaluate, and the part that is evaluated in memory.
///
/// ```swift
/// print(try context.explain(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)], fetchLimit: 20)))
/// ```
public struct FetchExplanation: Sendable, Hashable {
  /// A place in which a part of a fetch is evaluated.
  public enum Place: String, Sendable, Hashable {
    /// The store.
    case store
    /// Memory, for rows that were read.
    case memory
    /// The store first, and memory for the rows that are left.
    case both
  }

  /// The place in which the predicate is evaluated.
  public let predicate: Place
  /// The place in which the result is sorted.
  public let order: Place
  /// The place in which the limit and the offset are applied. In memory all rows that the store finds are read.
  public let limit: Place
  /// The parts of the predicate that are evaluated in memory, with their values.
  public let partsInMemory: [String]
  /// The steps of the store, as it describes them: with SQLite each statement and its query plan. A store in memory has none.
  public let steps: [String]
  /// The plan of the store: which tables are searched by an index, and which are scanned.
  public let plan: QueryPlan
  /// The place in which an aggregation is computed, in memory of entities that were read; `nil` for a fetch.
  public let aggregation: Place?
  /// Whether the store reads all rows of a table, since no index tells which are wanted.
  public let scans: Bool
}

extension FetchExplanation {
  /// Returns the explanation of an aggregation of what is fetched.
  func aggregating(
    _ place: Place, also parts: [String], _ steps: [String], _ plan: QueryPlan
  ) -> FetchExplanation {
    FetchExplanation(
      predicate: predicate, order: order, limit: limit, partsInMemory: partsInMemory + parts, steps: steps, plan: plan,
      aggregation: place, scans: plan.scans(isLimited: true))
  }
}

extension FetchExplanation: CustomStringConvertible {
  public var description: String {
    var lines = [
      aggregation.map { "predicate: \(predicate.rawValue), aggregation: \($0.rawValue)" }
        ?? "predicate: \(predicate.rawValue), order: \(order.rawValue), limit: \(limit.rawValue)"
    ]
    lines += partsInMemory.map { "in memory: \($0)" }
    lines += plan.lines
    lines += steps.map { "  \($0)" }
    return lines.joined(separator: "\n")
  }
}

extension FetchPlan {
  /// Explains which part is evaluated where, by the rows that a reading sees.
  func explain(_ reading: any RowReading) throws -> FetchExplanation {
    let query = try wholeQuery(reading)
    let asked = query ?? unordered
    let ranking = try query == nil ? rankedQuery.flatMap { try (reading as? any RankingReading)?.explainBest($0) } : nil
    let plan = try ranking?.plan ?? reading.plan(of: asked)
    return FetchExplanation(
      predicate: isExact ? .store : condition == .always(true) ? .memory : .both,
      order: query == nil && !descriptor.sortBy.isEmpty ? .memory : .store,
      limit: query == nil && (descriptor.fetchLimit != nil || descriptor.fetchOffset != nil) ? .memory : .store,
      partsInMemory: partsInMemory, steps: try ranking?.steps ?? reading.steps(of: asked),
      plan: plan, aggregation: nil,
      scans: plan.scans(isLimited: asked.limit != nil))
  }
}
