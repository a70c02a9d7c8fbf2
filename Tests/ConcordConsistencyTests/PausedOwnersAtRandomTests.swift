import ConcordConsistency
import Testing

@Suite("Owners that are paused at random end with what the others have")
struct PausedOwnersAtRandomTests {
  @Test("Short pauses", arguments: 0..<300 as Range<UInt64>)
  func short(_ seed: UInt64) {
    run(seed, rounds: 6, pushes: 1...8)
  }

  @Test("Pauses in which pushes are combined several times", arguments: 0..<4 as Range<UInt64>)
  func long(_ seed: UInt64) {
    run(seed, rounds: 2, pushes: 300...700)
  }

  private func run(_ seed: UInt64, rounds: Int, pushes: ClosedRange<Int>) {
    var random = Seeded(seed)
    let manager = ConsistencyManager()
    // Their objects contain the same ones in different places, so that a removal and a return make a difference.
    let owners = (0..<4).map { _ in
      var states = RandomStates(random)
      defer { random = states.random }
      return Owner((0..<4).map { _ in states.tree() })
    }
    var expected = owners.map(\.things)
    owners.forEach { manager.register($0) }
    var history: [String] = []
    for _ in 0..<rounds {
      // The first one is never paused.
      let paused = owners.dropFirst().filter { _ in Bool.random(using: &random) }
      paused.forEach { manager.pause($0) }
      var removed: Set<String> = []
      for _ in 0..<Int.random(in: pushes, using: &random) {
        var states = RandomStates(random)
        let push: NaivePush
        if Bool.random(using: &states.random),
          let number = owners.indices.filter({ index in paused.contains { $0 === owners[index] } })
            .randomElement(using: &states.random),
          let place = owners[number].things.indices.randomElement(using: &states.random)
        {
          // It edits what it has, which may have been removed meanwhile, or contain what was. What goes with an object that it
          // requires, in one of its states, is left alone.
          let owner = owners[number]
          let id = owner.things[place].id
          let edited = states.tree(Int(id) ?? 0)
          guard removed.isDisjoint(with: edited.requiredNames),
            removed.contains("Tree \(id)") || expected[number].contains(where: { $0.id == id })
          else { continue }
          owner.things[place] = edited
          push = NaivePush(updated: [edited])
        } else {
          push = NaivePush(&states)
        }
        random = states.random
        removed.formUnion(push.removedNames)
        history.append("\(push)")
        push.send(to: manager)
        expected = expected.map { $0.compactMap(push.applied) }
      }
      paused.forEach { manager.resume($0) }
      for (owner, expected) in zip(owners, expected) where owner.things != expected {
        Issue.record("seed \(seed): \(owner.things) instead of \(expected), after \(history.suffix(12))")
        return
      }
    }
  }
}

/// Random objects, of each of which there is one state.
private struct RandomStates {
  var random: Seeded
  private var leaves: [Int: Leaf] = [:]
  private var branches: [Int: Branch] = [:]
  private var trees: [String: Tree] = [:]

  init(_ random: Seeded) { self.random = random }

  mutating func leaf() -> Leaf {
    let id = Int.random(in: 0..<4, using: &random)
    if let known = leaves[id] { return known }
    let leaf = Leaf(id: id, name: Int.random(in: 0..<100, using: &random))
    leaves[id] = leaf
    return leaf
  }

  mutating func branch() -> Branch {
    let id = Int.random(in: 0..<4, using: &random)
    if let known = branches[id] { return known }
    let branch = Branch(
      id: id, required: leaf(), leaves: (0..<Int.random(in: 0..<3, using: &random)).map { _ in leaf() },
      extra: Bool.random(using: &random) ? leaf() : nil)
    branches[id] = branch
    return branch
  }

  mutating func tree() -> Tree { tree(Int.random(in: 0..<4, using: &random)) }

  mutating func tree(_ id: Int) -> Tree {
    if let known = trees["\(id)"] { return known }
    let tree = Tree(
      id: id, required: branch(), branches: (0..<Int.random(in: 0..<3, using: &random)).map { _ in branch() },
      extra: Bool.random(using: &random) ? branch() : nil)
    trees["\(id)"] = tree
    return tree
  }

  mutating func object() -> any ConsistentObject {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: leaf()
    case 1: tree()
    default: branch()
    }
  }
}

/// A push that is applied to values without the package: each object is replaced, or taken out, where it stands.
private struct NaivePush: CustomStringConvertible {
  private var updated: [any ConsistentObject] = []
  private var removed: [any ConsistentObject] = []
  private var leaves: [Int: Leaf] = [:]
  private var branches: [Int: Branch] = [:]
  private var trees: [String: Tree] = [:]

  init(_ states: inout RandomStates) {
    let objects = (0..<Int.random(in: 1...2, using: &states.random)).map { _ in states.object() }
    let isRemoval = Int.random(in: 0..<3, using: &states.random) == 0
    self.init(updated: isRemoval ? [] : objects)
    if isRemoval { removed = objects }
  }

  init(updated: [any ConsistentObject]) {
    self.updated = updated
    updated.forEach { note($0) }
  }

  var description: String {
    updated.isEmpty ? "remove \(removed.map { "\(type(of: $0)) \($0.id)" })" : "update \(updated)"
  }

  var removedNames: [String] { removed.map { "\(type(of: $0)) \($0.id)" } }

  func send(to manager: ConsistencyManager) {
    if updated.isEmpty { manager.pushRemovedObjects(removed) } else { manager.pushUpdatedObjects(updated) }
  }

  private mutating func note(_ object: any ConsistentObject) {
    switch object {
    case let leaf as Leaf: leaves[leaf.id] = leaf
    case let branch as Branch:
      branches[branch.id] = branch
      for leaf in [branch.required] + branch.leaves + [branch.extra].compactMap({ $0 }) { note(leaf) }
    case let tree as Tree:
      trees[tree.id] = tree
      for branch in [tree.required] + tree.branches + [tree.extra].compactMap({ $0 }) { note(branch) }
    default: break
    }
  }

  private func applied(_ leaf: Leaf) -> Leaf? {
    removed.contains { ($0 as? Leaf)?.id == leaf.id } ? nil : leaves[leaf.id] ?? leaf
  }

  private func applied(_ branch: Branch) -> Branch? {
    if removed.contains(where: { ($0 as? Branch)?.id == branch.id }) { return nil }
    if let newer = branches[branch.id] { return newer }
    guard let required = applied(branch.required) else { return nil }
    return Branch(
      id: branch.id, required: required, leaves: branch.leaves.compactMap(applied), extra: branch.extra.flatMap(applied)
    )
  }

  func applied(_ tree: Tree) -> Tree? {
    if removed.contains(where: { ($0 as? Tree)?.id == tree.id }) { return nil }
    if let newer = trees[tree.id] { return newer }
    guard let required = applied(tree.required) else { return nil }
    return Tree(
      id: tree.id, required: required, branches: tree.branches.compactMap(applied), extra: tree.extra.flatMap(applied))
  }
}

private struct Leaf: Identifiable, Equatable, StaticallyConsistent {
  let id: Int
  var name: Int

  var properties: [Property] { [("name", name)] }

  func setting(property: Property) -> Leaf { self }

  static func declareConsistentParts(in types: inout ConsistentTypes) {}

  func visitConsistentParts(_ visitor: ConsistentVisitor) {}

  func mergingConsistentParts(_ merge: ConsistentMerge) -> Leaf? { nil }
}

private struct Branch: Identifiable, Equatable, StaticallyConsistent {
  let id: Int
  var required: Leaf
  var leaves: [Leaf]
  var extra: Leaf?

  var properties: [Property] { [("required", required), ("leaves", leaves), ("extra", extra)] }

  func setting(property: Property) -> Branch { self }

  static func declareConsistentParts(in types: inout ConsistentTypes) {
    types.include(\Self.required)
    types.include(\Self.leaves)
    types.include(\Self.extra)
  }

  func visitConsistentParts(_ visitor: ConsistentVisitor) {
    visitor.visit(required)
    visitor.visit(leaves)
    visitor.visit(extra)
  }

  func mergingConsistentParts(_ merge: ConsistentMerge) -> Branch? {
    let (required, leaves, extra) = (merge.updated(required), merge.updated(leaves), merge.updated(extra))
    if required == nil, leaves == nil, extra == nil { return nil }
    return Branch(
      id: id, required: required ?? self.required, leaves: leaves ?? self.leaves, extra: extra ?? self.extra)
  }
}

/// Written by hand, unlike the branches and leaves in it.
private struct Tree: Equatable, ConsistentObject {
  let id: String
  var required: Branch
  var branches: [Branch]
  var extra: Branch?

  init(id: some CustomStringConvertible, required: Branch, branches: [Branch], extra: Branch?) {
    (self.id, self.required, self.branches, self.extra) = ("\(id)", required, branches, extra)
  }

  var properties: [Property] { [("required", required), ("branches", branches), ("extra", extra)] }
  var requiredNames: [String] { ["Branch \(required.id)", "Leaf \(required.required.id)"] }

  func setting(property: Property) -> Tree {
    var copy = self
    switch (property.label, property.value) {
    case ("required", let value as Branch): copy.required = value
    case ("branches", let value as [Branch]): copy.branches = value
    case ("extra", let value): copy.extra = value as? Branch
    default: break
    }
    return copy
  }
}
