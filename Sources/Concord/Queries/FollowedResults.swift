/// Something that is made of the results of a query, and kept up to date by what differs between them.
///
/// It is moved from one snapshot to any other. Observers that are told of different states share it.
final class FollowedResults<Element: Identifiable & Sendable, Made: ResultsFollower>: Sendable
where Made.Element == Element {
  private let last: Locked<(results: EntityResults<Element>?, made: Made)>

  init(_ made: Made) { last = Locked((nil, made)) }

  /// Returns what is made of some results.
  func value(of results: EntityResults<Element>) -> Made.Value {
    let (value, former) = last.withLock { last in
      let changes = results.changes(from: last.results)
      let former = last.results
      last.made.apply(changes, results.order)
      last.results = results
      return (last.made.value, former)
    }
    withExtendedLifetime(former) {}
    return value
  }
}

/// Something that is made of the results of a query, one difference after the other.
protocol ResultsFollower: SendableMetatype {
  associatedtype Element: Identifiable & Sendable
  associatedtype Value: Sendable
  var value: Value { get }
  mutating func apply(_ changes: TreeChanges<QueryEntry<Element>>, _ order: EntryOrder<Element>)
}

extension EntityObserver {
  /// Returns an observer of what is made of the results of a query.
  func following<Element, Made: ResultsFollower>(
    _ made: Made, isSame: (@Sendable (Made.Value, Made.Value) -> Bool)? = nil
  ) -> EntityObserver<Made.Value> where Value == EntityResults<Element>, Made.Element == Element {
    let followed = FollowedResults(made)
    return source.shared.read(0) { core, _ in
      EntityObserver<Made.Value>(DerivedSource(source, core, isSame: isSame) { followed.value(of: $0) })
    }
  }
}
