/// The nodes that the open transaction wrote, collected while they are needed.
final class WrittenNodes {
  /// Whether all changes are observed.
  @exclusivity(unchecked) var isFollowed = false { didSet { update() } }
  /// Whether all entities of a type are observed.
  @exclusivity(unchecked) var isListed = false { didSet { update() } }
  /// Whether there are projections.
  @exclusivity(unchecked) var isProjected = false { didSet { update() } }
  /// Whether the time of the first write is noted.
  @exclusivity(unchecked) var isTimed = false
  @exclusivity(unchecked) private(set) var isWanted = false
  private var beginning: ContinuousClock.Instant?
  private let backlog: Backlog
  private var nodes: ContiguousArray<Node> = []
  /// The nodes that were released, because nothing retained them any longer, by their positions.
  private var released: ContiguousArray<(position: Int, node: ObjectIdentifier)> = []
  /// The stamps that the store's clock gave, also those of writes that were undone. A node with another one by now was given it
  /// since, or had it before.
  private var ownStamps: Set<OwnStamp> = []
  /// The number of entities that were released so far.
  private(set) var releaseCount: UInt64 = 0

  private struct OwnStamp: Hashable {
    let node: ObjectIdentifier
    let stamp: Stamp
  }

  init(_ backlog: Backlog) { self.backlog = backlog }

  private func update() { isWanted = isFollowed || isListed || isProjected }

  func append(_ node: Node) {
    guard isWanted else { return }
    if isTimed { noteBeginning() }
    nodes.append(node)
    backlog.add()
  }

  // By itself, so that those whose writes are not followed do not ask the runtime for the types of times.
  @inline(never) private func noteBeginning() { if beginning == nil { beginning = .now } }

  func append(released node: Node) {
    releaseCount &+= 1
    guard isWanted else { return }
    released.append((nodes.count, ObjectIdentifier(node)))
    append(node)
  }

  /// The nodes written so far.
  var all: ContiguousArray<Node> { nodes }
  var count: Int { nodes.count }

  /// Removes the nodes after a savepoint, whose writes were undone: which node was written last counts.
  func truncate(to count: Int) {
    guard count < nodes.count else { return }
    nodes.removeSubrange(count...)
    while let last = released.last, last.position >= count { released.removeLast() }
  }

  func takeAll() -> ContiguousArray<Node> {
    var taken: ContiguousArray<Node> = []
    swap(&taken, &nodes)
    return taken
  }

  /// The clock has given a node its stamp.
  func noteOwnStamp(of node: Node) {
    if isFollowed { ownStamps.insert(OwnStamp(node: ObjectIdentifier(node), stamp: node.stamp)) }
  }

  /// Notes that a transaction begins.
  func begin() { if isTimed { beginning = .now } }

  /// Returns the time since the transaction began, if it was noted.
  func takeDuration() -> Duration? {
    defer { beginning = nil }
    return beginning.map { .now - $0 }
  }

  /// Whether a node's stamp is one that the clock gave in the open transaction.
  func hasOwnStamp(_ node: Node) -> Bool {
    ownStamps.contains(OwnStamp(node: ObjectIdentifier(node), stamp: node.stamp))
  }

  func forgetOwnStamps() { if !ownStamps.isEmpty { ownStamps = [] } }

  func takeReleased() -> Set<ObjectIdentifier> {
    defer { released = [] }
    return Set(released.map { $0.node })
  }
}
