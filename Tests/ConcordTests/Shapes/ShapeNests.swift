import Concord

// Containers in containers, for the random test of shapes. They are relations only of values whose mode says so, and drawn
// only then, so that the seeds of older findings keep their meaning.

/// Leaves and niches in containers of containers.
struct Nest: Hashable, Sendable {
  var grid: [[Leaf]] = []
  var shelves: [Int: [Leaf]] = [:]
  var maybeShelves: [Int: [Leaf]?]?
  var gaps: [Leaf?] = []
  var deep: Leaf??
  var sets: [Set<Leaf>] = []
  var niches: [Int: Niche] = [:]
  var nicheSet: Set<Niche> = []
  var nicheGaps: [Niche?] = []
  var pair: (left: Leaf?, right: [Leaf]) {
    get { (halves.left, halves.right) }
    set { (halves.left, halves.right) = newValue }
  }
  var halves = Halves()

  struct Halves: Hashable, Sendable {
    var left: Leaf?
    var right: [Leaf] = []
  }

  static func relations<Root>(_ nest: WritableKeyPath<Root, Nest>) -> [PartialIdentifiableKeyPath<Root>] {
    [
      .init(nest.appending(path: \.grid)), .init(nest.appending(path: \.shelves)),
      .init(nest.appending(path: \.maybeShelves)), .init(nest.appending(path: \.gaps)),
      .init(nest.appending(path: \.deep)), .init(nest.appending(path: \.sets)),
      .init(wrapper: nest.appending(path: \.niches)), .init(wrapper: nest.appending(path: \.nicheSet)),
      .init(wrapper: nest.appending(path: \.nicheGaps)), .init(nest.appending(path: \.pair.left)),
      .init(nest.appending(path: \.pair.right)),
    ]
  }

  var inside: [Leaf] {
    var inside = grid.flatMap { $0 } + shelves.values.flatMap { $0 }
    inside += (maybeShelves ?? [:]).values.flatMap { $0 ?? [] } + gaps.compactMap { $0 }
    if let deep, let leaf = deep { inside.append(leaf) }
    inside += sets.flatMap { $0 } + niches.values.flatMap(\.inside) + nicheSet.flatMap(\.inside)
    return inside + nicheGaps.flatMap { $0?.inside ?? [] } + (pair.left.map { [$0] } ?? []) + pair.right
  }
}

/// Knots in containers of containers.
struct Mesh: Hashable, Sendable {
  var rows: [[Knot]] = []
  var web: [Int: [Knot]] = [:]
  var gaps: [Knot?] = []
  var ties: [Int: Tie] = [:]

  static func relations<Root>(_ mesh: WritableKeyPath<Root, Mesh>) -> [PartialIdentifiableKeyPath<Root>] {
    [
      .init(mesh.appending(path: \.rows)), .init(mesh.appending(path: \.web)), .init(mesh.appending(path: \.gaps)),
      .init(wrapper: mesh.appending(path: \.ties)),
    ]
  }

  private var all: [[Knot]] {
    [
      rows.flatMap { $0 }, web.values.flatMap { $0 }, gaps.compactMap { $0 },
      ties.values.flatMap(\.inside),
    ]
  }

  var inside: [Knot] { all.flatMap { $0 } }

  /// Without what leads to one of these.
  func brief(_ leadsBack: ([Knot]) -> Bool) -> Mesh {
    var brief = self
    let all = self.all
    if leadsBack(all[0]) { brief.rows = [] }
    if leadsBack(all[1]) { brief.web = [:] }
    if leadsBack(all[2]) { brief.gaps = [] }
    if leadsBack(all[3]) { brief.ties = [:] }
    return brief
  }
}
