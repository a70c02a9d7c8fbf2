import ConcordModel
import Foundation

/// How a fetch is done: what the store does, and what is left to do in memory.
struct FetchPlan<T: PersistentEntity> {
  private let descriptor: FetchDescriptor<T>
  private let entity: EntityDescription

  init(_ descriptor: FetchDescriptor<T>, _ entity: EntityDescription) {
    self.descriptor = descriptor
    self.entity = entity
  }

  /// Whether the store can do all of it.
  var isStored: Bool { descriptor.predicate == nil && descriptor.sortBy.isEmpty }

  /// What the store does.
  var query: RowQuery {
    isStored
      ? RowQuery(entity, limit: descriptor.fetchLimit, offset: descriptor.fetchOffset ?? 0) : RowQuery(entity)
  }

  /// What is found so far.
  func fetch(_ loader: EntityLoader) throws -> [T] { try loader.fetch(T.self, query) }

  /// Does the rest. It runs outside of the reading, since a comparator is the user's.
  func finish(_ fetched: [T]) throws -> [T] {
    if isStored { return fetched }
    var found = fetched
    if let predicate = descriptor.predicate { found = try found.filter { try predicate.evaluate($0) } }
    // The order of the store is kept among those that are not told apart.
    if !descriptor.sortBy.isEmpty {
      found = found.enumerated().sorted { a, b in
        switch descriptor.sortBy.compare(a.element, b.element) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: a.offset < b.offset
        }
      }.map(\.element)
    }
    return Array(found.dropFirst(max(0, descriptor.fetchOffset ?? 0)).prefix(max(0, descriptor.fetchLimit ?? .max)))
  }
}

extension Sequence {
  /// The first that tells the two apart says.
  fileprivate func compare<T>(_ a: T, _ b: T) -> ComparisonResult where Element == SortDescriptor<T> {
    for descriptor in self {
      let result = descriptor.compare(a, b)
      if result != .orderedSame { return result }
    }
    return .orderedSame
  }
}
