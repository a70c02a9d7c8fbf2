/// One entity: its place in the graph, whatever its type. Used only by whoever holds the store's lock, which is why it is
/// not `Sendable`; but for `holders`, which is atomic.
// `@exclusivity(unchecked)`, here and in the rest of the engine, saves the run-time search for an access within another to the
// same property, which took a tenth of each write. There is none: one thread has the lock, the engine alone reads and writes
// these properties, and code of others that it runs meanwhile (`==`, a setter) cannot come back, since the lock is held.
@usableFromInline class Node {
  @usableFromInline final let table: AnyTable
  // These two in this order, since together they fill a word.
  @exclusivity(unchecked) final var parents = ParentList()
  @exclusivity(unchecked) @usableFromInline final var flags: Flags = .uncommitted
  @usableFromInline final let holders = HolderCount()
  /// The id's hash, by which the table's index finds the node; 0 if it is not there.
  @exclusivity(unchecked) @usableFromInline final var hash: UInt32 = 0
  /// Where the call that is being merged has the winning occurrence; -1 outside of a call.
  @exclusivity(unchecked) final var occurrence: Int32 = -1
  /// Where the journal has the latest saved state; -1 if it has none.
  @exclusivity(unchecked) @usableFromInline final var journalIndex: Int32 = -1
  @exclusivity(unchecked) @usableFromInline final var stamp: Stamp = -.infinity
  /// `nil` for an entity without relations.
  @exclusivity(unchecked) @usableFromInline final var children: ChildList?
  /// Most nodes need none.
  @exclusivity(unchecked) final var links: NodeLinks?

  @usableFromInline init(table: AnyTable) { self.table = table }

  @inlinable @inline(__always) final var exists: Bool { flags.contains(.exists) }
  @inlinable @inline(__always) final var isStale: Bool { flags.contains(.stale) }

  /// Lies in its table's index, and not among those awaited, which have no value yet.
  final var isIndexed: Bool { hash != 0 }

  /// Whether another node is in the same cycle (strongly connected component); a node in a cycle is in its own.
  final func isInSameCycle(as other: Node) -> Bool {
    guard let component = links?.component else { return false }
    return component === other.links?.component
  }

  /// Made if there are none.
  final var ownLinks: NodeLinks {
    if let links { return links }
    let made = NodeLinks()
    links = made
    return made
  }

  final var subscribers: ContiguousArray<Subscriber> { links?.subscribers ?? [] }
  final var isObserved: Bool { flags.contains(.observed) }

  /// Whether somebody is told each state, with the value of its commit.
  final var buffersCalls: Bool {
    withLinks { links in
      for i in links.subscribers.indices where Borrowed(links.subscribers[i]).use({ $0.buffersCalls }) { return true }
      return false
    } ?? false
  }

  /// The one subscriber, if there is no other.
  final var onlySubscriber: Borrowed<Subscriber>? {
    withLinks { $0.subscribers.count == 1 ? Borrowed($0.subscribers[0]) : nil } ?? nil
  }

  final func addSubscriber(_ subscriber: Subscriber) {
    let links = ownLinks
    subscriber.position = links.subscribers.count
    links.subscribers.append(subscriber)
    flags.insert(.observed)
  }

  /// The last takes the place of the one removed, so that thousands that leave need no search.
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

    /// The entity is stored; without it the node only waits for it, or keeps the last value for an observer.
    @inlinable static var exists: Flags { Flags(rawValue: 1 << 0) }
    /// What the value shows of its children may be old.
    @inlinable static var stale: Flags { Flags(rawValue: 1 << 1) }
    /// All ancestors that show the whole form are stale already.
    @inlinable static var invalidatedParents: Flags { Flags(rawValue: 1 << 2) }
    /// And so are those that show the brief form.
    @inlinable static var invalidatedCycle: Flags { Flags(rawValue: 1 << 3) }
    /// Among the observed nodes that the transaction changed.
    @inlinable static var notified: Flags { Flags(rawValue: 1 << 4) }
    /// Among those whose reachability is to be examined.
    @inlinable static var unexamined: Flags { Flags(rawValue: 1 << 5) }
    /// Found to be perhaps unreachable while cycles are examined.
    @inlinable static var doubtful: Flags { Flags(rawValue: 1 << 6) }
    /// An alias that was given something to name.
    @inlinable static var registered: Flags { Flags(rawValue: 1 << 7) }
    /// The children changed since components were last searched.
    @inlinable static var restructured: Flags { Flags(rawValue: 1 << 8) }
    /// Own fields or relations were written in the open transaction.
    @inlinable static var written: Flags { Flags(rawValue: 1 << 10) }
    /// The value was never committed.
    @inlinable static var uncommitted: Flags { Flags(rawValue: 1 << 11) }
    /// Removed, and its occurrences are about to be taken out.
    @inlinable static var removed: Flags { Flags(rawValue: 1 << 12) }
    /// Occurrences in the value are about to be taken out.
    @inlinable static var shrinking: Flags { Flags(rawValue: 1 << 13) }
    /// Its value is being brought up to date, together with what is below it.
    @inlinable static var visiting: Flags { Flags(rawValue: 1 << 14) }

    /// Among the observed nodes that are to be brought up to date without a notice.
    @inlinable static var unrefreshed: Flags { Flags(rawValue: 1 << 15) }
    /// Has subscribers.
    @inlinable static var observed: Flags { Flags(rawValue: 1 << 9) }

    /// What a transaction that throws brings back.
    static var journaled: Flags { [.exists, .registered, .written, .uncommitted] }
  }
}

/// What only nodes need that are observed, or of types that can form cycles.
final class NodeLinks {
  @exclusivity(unchecked) var subscribers: ContiguousArray<Subscriber> = []
  /// One parent through which a node that can be in a cycle is known to be reachable.
  @exclusivity(unchecked) var retainer: Node?
  /// The cycle that the node is in.
  @exclusivity(unchecked) var component: Component?
  /// Where a node in no cycle is in the topological order.
  @exclusivity(unchecked) var rank: Rank?
  /// The cycle that the node was in, if that may have changed since values were last compared.
  @exclusivity(unchecked) var former: Component?
  @exclusivity(unchecked) var isRelabelled = false
}
