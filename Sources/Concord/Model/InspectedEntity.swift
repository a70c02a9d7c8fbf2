/// An entity as a list shows it.
package struct InspectedSummary: Sendable {
  package let key: InspectedKey
  package let value: any Identifiable & Sendable
  package let observers: Int
  package let holders: Int
  package let parents: Int

  package init(key: InspectedKey, value: any Identifiable & Sendable, observers: Int, holders: Int, parents: Int) {
    (self.key, self.value) = (key, value)
    (self.observers, self.holders, self.parents) = (observers, holders, parents)
  }
}

/// A snapshot of what a store knows of an entity, and of what keeps it.
package struct InspectedEntity: Sendable {
  package let value: any Identifiable & Sendable
  package let stamp: Stamp
  /// The subscriptions: the first ones.
  package var observers: [InspectedObserver] = []
  package var observerCount = 0
  /// The number of observers that hold the entity, and have no subscription.
  package var holders = 0
  /// The places where those were made of which that was noted.
  package var holderOrigins: [CallOrigin] = []
  /// The number of queries and combinations that follow the entity.
  package var relays = 0
  package var aliases: [String] = []
  /// The positions of the optimistic layers that change it, from the lowest.
  package var layers: [Int] = []
  /// The way up to an entity that is held by itself; the entity itself if it is, or if none was found.
  package var path: [InspectedKey] = []

  /// The number of observers that are told one by one.
  static var mostObservers: Int { 500 }
}

/// The entities around one: all places where it stands, in no particular order, and all that it contains, in the order of its value.
package struct InspectedNeighbours: Sendable {
  package var parents: [InspectedLink] = []
  package var children: [InspectedLink] = []
}

/// One side of an entity.
package enum InspectedSide: String, Sendable {
  /// The entities that contain the entity.
  case parents
  /// The entities that the entity contains.
  case children
}

/// A place where an entity stands in another one.
package struct InspectedLink: Sendable {
  package let key: InspectedKey
  /// The property, as in `edition.author`.
  package let place: String
}

/// A subscription to an entity, or to a query.
package struct InspectedObserver: Sendable {
  /// The place where it was made; `nil` if no inspector was attached then.
  package let origin: CallOrigin?
  /// The place where the observer is called, in words.
  package let line: String
  /// Whether the observer receives each state.
  package let isEvery: Bool
  package let isPaused: Bool
}

/// A live query.
package struct InspectedQuery: Sendable {
  package let type: any (Identifiable & Sendable).Type
  /// The demand of the condition on the property by which changes find the query, in words; `nil` if each change of the type concerns it.
  package let demand: String?
  package let hasCondition: Bool
  /// The number of properties by which the results are sorted.
  package let sorts: Int
  package let window: Range<Int>
  /// The number of results that were last made, before the window.
  package let size: Int
  /// The number of entities that were looked at since the query was made.
  package let looks: Int
  /// The number of commits that nobody has looked at yet.
  package let waiting: Int
  package let observers: [InspectedObserver]
}
