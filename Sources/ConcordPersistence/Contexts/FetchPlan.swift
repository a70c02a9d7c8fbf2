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
  private var isStored: Bool { descriptor.predicate == nil && descriptor.sortBy.isEmpty }

  private var storedQuery: RowQuery {
    RowQuery(entity, limit: descriptor.fetchLimit, offset: descriptor.fetchOffset ?? 0)
  }

  func fetch(_ loader: EntityLoader) throws -> [T] {
    if isStored { return try loader.fetch(T.self, storedQuery) }
    var found = try loader.fetch(T.self, RowQuery(entity))
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

  func count(_ loader: EntityLoader) throws -> Int {
    isStored ? try loader.reading.count(storedQuery) : try fetch(loader).count
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
