/// The node of one entity in the graph, whatever the entity's type. Used only while the store's lock is held, except for
/// `holders`, which is atomic. So it is not `Sendable`.
// `@exclusivity(unchecked)`, here and in the rest of the engine, disables the run-time check for overlapping accesses to the
// same property, which took a tenth of each write. There are none: one thread has the lock, only the engine accesses these
// properties, and the user's code that it runs meanwhile (`==`, a setter) cannot call back, since the lock is held.
@usableFromInline class Node {
  @usableFromInline final let table: AnyTable
  // These two in this order, since together they fill a word.
  @exclusivity(unchecked) final var parents = ParentList()
  @exclusivity(unchecked) @usableFromInline final var flags: Flags = .uncommitted
  @usableFromInline final let holders = HolderCount()
  /// The hash of the id in the table's index; 0 if the node is not in the index.
  @exclusivity(unchecked) @usableFromInline final var hash: UInt32 = 0
  /// The position of the winning occurrence in the call that is being merged; -1 outside of a call.
  @exclusivity(unchecked) final var occurrence: Int32 = -1
  /// The position of the latest saved state in the journal; -1 if there is none.
  @exclusivity(unchecked) @usableFromInline final var journalIndex: Int32 = -1
  @exclusivity(unchecked) @usableFromInline final var stamp: Stamp = -.infinity
  /// The children; `nil` for an entity without relations.
  @exclusivity(unchecked) @usableFromInline final var children: ChildList?
  /// The links that most nodes do not need.
  @exclusivity(unchecked) final var links: NodeLinks?

  @usableFromInline init(table: AnyTable) { self.table = table }

  // The other nodes of a component, and neighbours in the topological order, may have references to the node that are not counted.
  deinit { assert(links?.component == nil && links?.rank == nil, "an entity was freed that cycles still know") }

  @inlinable @inline(__always) final var exists: Bool { flags.contains(.exists) }
  @inlinable @inline(__always) final var isStale: Bool { flags.contains(.stale) }

  /// Whether the node is in its table's index, and not among the awaited ones, which have no value yet.
  final var isIndexed: Bool { hash != 0 }

  /// Whether another node is in the same cycle (strongly connected component); a node in a cycle is in its own.
  final func isInSameCycle(as other: Node) -> Bool {
    guard let component = links?.component else { return false }
    return component === other.links?.component
  }

  /// The links, made if there are none.
  final var ownLinks: NodeLinks {
    if let links { return links }
    let made = NodeLinks()
    links = made
    return made
  }

  final var subscribers: ContiguousArray<Subscriber> { links?.subscribers ?? [] }
  /// Whether somebody is to be told of changes: subscribers, or queries of the type.
  final var isObserved: Bool { !flags.isDisjoint(with: [.observed, .followed]) }

  /// Whether a subscriber receives each state, with the value of its commit.
  final var buffersCalls: Bool {
    withLinks { links in
      for i in links.subscribers.indices where Borrowed(links.subscribers[i]).use({ $0.buffersCalls }) { return true }
      return false
    } ?? false
  }

  /// The subscriber, if there is exactly one.
  final var onlySubscriber: Borrowed<Subscriber>? {
    withLinks { $0.subscribers.count == 1 ? Borrowed($0.subscribers[0]) : nil } ?? nil
  }

  final func addSubscriber(_ subscriber: Subscriber) {
    let links = ownLinks
    subscriber.position = links.subscribers.count
    links.subscribers.append(subscriber)
    flags.insert(.observed)
  }

  /// Removes a subscriber. The last one takes its place, so that removal needs no search.
  final func removeSubscriber(_ subscriber: Subscriber) {
    let position = subscriber.position
    guard let links, links.subscribers.indices.contains(position), links.subscribers[position] === subscriber else {
      return
    }
    links.subscribers.swapAt(position, links.subscribers.count - 1)
    links.subscribers[position].position = position
    links.subscribers.removeLast()
    links.subscribers.shrink(beyond: 31)
    if links.subscribers.isEmpty { flags.remove(.observed) }
    if links.subscribers.isEmpty, links.retainer == nil, links.component == nil, links.rank == nil, !links.isRelabelled
    {
      self.links = nil
    }
  }
}

extension Node {
  @usableFromInline struct Flags: OptionSet {
    @usableFromInline let rawValue: UInt16
    @usableFromInline init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The entity is stored. Without it the node awaits the entity, or keeps the last value for an observer.
    @inlinable static var exists: Flags { Flags(rawValue: 1 << 0) }
    /// The children in the value may be old.
    @inlinable static var stale: Flags { Flags(rawValue: 1 << 1) }
    /// All ancestors that show the whole form are stale already.
    @inlinable static var invalidatedParents: Flags { Flags(rawValue: 1 << 2) }
    /// All ancestors that show the brief form are stale already.
    @inlinable static var invalidatedCycle: Flags { Flags(rawValue: 1 << 3) }
    /// The node is among the observed ones that the transaction changed.
    @inlinable static var notified: Flags { Flags(rawValue: 1 << 4) }
    /// The node is among those whose reachability is to be examined.
    @inlinable static var unexamined: Flags { Flags(rawValue: 1 << 5) }
    /// The entity is one of those that queries of its type know.
    @inlinable static var followed: Flags { Flags(rawValue: 1 << 6) }
    /// The node is an alias that names an entity or a collection.
    @inlinable static var registered: Flags { Flags(rawValue: 1 << 7) }
    /// The children changed since components were last searched.
    @inlinable static var restructured: Flags { Flags(rawValue: 1 << 8) }
    /// Own fields or relations were written in the open transaction.
    @inlinable static var written: Flags { Flags(rawValue: 1 << 10) }
    /// The value was never committed.
    @inlinable static var uncommitted: Flags { Flags(rawValue: 1 << 11) }
    /// The entity was removed, and its occurrences are about to be.
    @inlinable static var removed: Flags { Flags(rawValue: 1 << 12) }
    /// Occurrences in the value are about to be removed.
    @inlinable static var shrinking: Flags { Flags(rawValue: 1 << 13) }
    /// The value is being brought up to date, with the entities inside it.
    @inlinable static var visiting: Flags { Flags(rawValue: 1 << 14) }

    /// The node is among the observed ones that are to be brought up to date without a notice.
    @inlinable static var unrefreshed: Flags { Flags(rawValue: 1 << 15) }
    /// The node has subscribers.
    @inlinable static var observed: Flags { Flags(rawValue: 1 << 9) }

    /// All ancestors are stale already.
    static var invalidated: Flags { [.invalidatedParents, .invalidatedCycle] }
    /// The flags that a transaction which throws restores.
    static var journaled: Flags { [.exists, .registered, .written, .uncommitted] }
  }
}

/// The properties that only observed nodes need, and those of types that can form cycles.
final class NodeLinks {
  @exclusivity(unchecked) var subscribers: ContiguousArray<Subscriber> = []
  /// One parent through which a node that can be in a cycle is known to be reachable.
  @exclusivity(unchecked) var retainer: Node?
  /// The cycle that the node is in.
  @exclusivity(unchecked) var component: Component?
  /// The position in the topological order of a node that is in no cycle.
  @exclusivity(unchecked) var rank: Rank?
  /// The cycle that the node was in, if that may have changed since values were last compared.
  @exclusivity(unchecked) var former: Component?
  @exclusivity(unchecked) var isRelabelled = false
  @exclusivity(unchecked) var paths = RootPaths()
  /// A mark of the last search that came by.
  @exclusivity(unchecked) var mark = 0
  /// The number of the transaction that last changed the value of an observed node.
  @exclusivity(unchecked) var changedIn = 0
}
