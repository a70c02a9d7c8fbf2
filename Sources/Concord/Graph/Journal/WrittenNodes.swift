/// The nodes that the open transaction wrote, collected while they are needed.
final class WrittenNodes {
  /// Whether all changes are observed.
  var isFollowed = false { didSet { update() } }
  /// Whether all entities of a type are observed.
  var isListed = false { didSet { update() } }
  /// Whether there are projections.
  var isProjected = false { didSet { update() } }
  @exclusivity(unchecked) private(set) var isWanted = false
  private let backlog: Backlog
  private var nodes: ContiguousArray<Node> = []
  /// The nodes that were released, because nothing retained them any longer.
  private var released: Set<ObjectIdentifier> = []

  init(_ backlog: Backlog) { self.backlog = backlog }

  private func update() { isWanted = isFollowed || isListed || isProjected }

  func append(_ node: Node) {
    guard isWanted else { return }
    nodes.append(node)
    backlog.add()
  }

  func append(released node: Node) {
    guard isWanted else { return }
    append(node)
    released.insert(ObjectIdentifier(node))
  }

  /// The nodes written so far.
  var all: ContiguousArray<Node> { nodes }

  func takeAll() -> ContiguousArray<Node> {
    var taken: ContiguousArray<Node> = []
    swap(&taken, &nodes)
    return taken
  }

  func takeReleased() -> Set<ObjectIdentifier> {
    defer { released = [] }
    return released
  }
}
