import Concord

/// An identity in a naive world.
struct NaiveKey: Hashable, Comparable, Sendable, CustomStringConvertible {
  enum Kind: Int, CaseIterable, Sendable { case leaf, node, box }

  let kind: Kind
  let id: Int

  init(_ kind: Kind, _ id: Int) { (self.kind, self.id) = (kind, id) }

  static func < (a: NaiveKey, b: NaiveKey) -> Bool { (a.kind.rawValue, a.id) < (b.kind.rawValue, b.id) }

  var description: String { "\(kind)\(id)" }
}

/// Any value of a naive world: a field, and what stands in each relation.
struct NaiveTree: Equatable, Sendable, CustomStringConvertible {
  var key: NaiveKey
  var field: Int
  var relations: [[NaiveTree]] = []

  var description: String {
    let inside = relations.map { $0.map(\.description).joined(separator: " ") }
    return "\(key)=\(field)" + (inside.isEmpty ? "" : "(\(inside.joined(separator: "|")))")
  }
}

/// A change that a closure makes in a value.
indirect enum NaiveChange: Sendable {
  case field(Int)
  /// Puts something at the end of a relation, or in the place of what stands in an optional or a required one.
  case put(relation: Int, NaiveTree)
  /// Takes the first out of a relation, if that can do without.
  case take(relation: Int)
  /// Changes what stands at a place, if there is anything.
  case inside(relation: Int, index: Int, NaiveChange)

  /// What the value is after the change.
  func apply(to tree: inout NaiveTree) {
    switch self {
    case .field(let value): tree.field = value
    case .put(let relation, let other):
      guard tree.relations.indices.contains(relation) else { return }
      if tree.key.kind.isList(relation) {
        tree.relations[relation].append(other)
      } else {
        tree.relations[relation] = [other]
      }
    case .take(let relation):
      guard tree.relations.indices.contains(relation), !tree.relations[relation].isEmpty,
        !tree.key.kind.requires(relation)
      else { return }
      tree.relations[relation].removeFirst()
    case .inside(let relation, let index, let change):
      guard tree.relations.indices.contains(relation), tree.relations[relation].indices.contains(index) else { return }
      change.apply(to: &tree.relations[relation][index])
    }
  }
}

extension NaiveKey.Kind {
  /// The kinds of what stands in each relation.
  var relations: [NaiveKey.Kind] {
    switch self {
    case .leaf: []
    case .node: [.leaf, .leaf]
    case .box: [.node, .leaf, .node]
    }
  }
  func isList(_ relation: Int) -> Bool { self == .node && relation == 1 || self == .box && relation == 2 }
  func requires(_ relation: Int) -> Bool { self == .box && relation == 0 }
}

protocol NaiveEntity: Identifiable, Equatable, Sendable where ID == Int {
  static var kind: NaiveKey.Kind { get }
  init(_ tree: NaiveTree)
  var tree: NaiveTree { get }
  /// Makes a change, in place as far as that goes.
  mutating func apply(_ change: NaiveChange)
}

struct NaiveLeaf: NaiveEntity {
  static var kind: NaiveKey.Kind { .leaf }
  var id: Int
  var field: Int

  init(_ tree: NaiveTree) { (id, field) = (tree.key.id, tree.field) }
  var tree: NaiveTree { NaiveTree(key: NaiveKey(.leaf, id), field: field) }
  mutating func apply(_ change: NaiveChange) { if case .field(let value) = change { field = value } }
}

struct NaiveNode: NaiveEntity, Aggregate {
  static var kind: NaiveKey.Kind { .node }
  var id: Int
  var field: Int
  var best: NaiveLeaf?
  var list: [NaiveLeaf]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.best), .init(\.list)] }

  init(_ tree: NaiveTree) {
    (id, field) = (tree.key.id, tree.field)
    (best, list) = (tree.relations[0].first.map(NaiveLeaf.init), tree.relations[1].map(NaiveLeaf.init))
  }
  var tree: NaiveTree {
    NaiveTree(key: NaiveKey(.node, id), field: field, relations: [best.map { [$0.tree] } ?? [], list.map(\.tree)])
  }
  mutating func apply(_ change: NaiveChange) {
    switch change {
    case .field(let value): field = value
    case .put(0, let other): best = NaiveLeaf(other)
    case .put(1, let other): list.append(NaiveLeaf(other))
    case .take(0): best = nil
    case .take(1): if !list.isEmpty { list.removeFirst() }
    case .inside(0, 0, let change): best?.apply(change)
    case .inside(1, let index, let change): if list.indices.contains(index) { list[index].apply(change) }
    default: break
    }
  }
}

struct NaiveBox: NaiveEntity, Aggregate {
  static var kind: NaiveKey.Kind { .box }
  var id: Int
  var field: Int
  var node: NaiveNode
  var leaf: NaiveLeaf?
  var nodes: [NaiveNode]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.node), .init(\.leaf), .init(\.nodes)] }

  init(_ tree: NaiveTree) {
    (id, field) = (tree.key.id, tree.field)
    (node, leaf) = (NaiveNode(tree.relations[0][0]), tree.relations[1].first.map(NaiveLeaf.init))
    nodes = tree.relations[2].map(NaiveNode.init)
  }
  var tree: NaiveTree {
    NaiveTree(
      key: NaiveKey(.box, id), field: field, relations: [[node.tree], leaf.map { [$0.tree] } ?? [], nodes.map(\.tree)])
  }
  mutating func apply(_ change: NaiveChange) {
    switch change {
    case .field(let value): field = value
    case .put(0, let other): node = NaiveNode(other)
    case .put(1, let other): leaf = NaiveLeaf(other)
    case .put(2, let other): nodes.append(NaiveNode(other))
    case .take(1): leaf = nil
    case .take(2): if !nodes.isEmpty { nodes.removeFirst() }
    case .inside(0, 0, let change): node.apply(change)
    case .inside(1, 0, let change): leaf?.apply(change)
    case .inside(2, let index, let change): if nodes.indices.contains(index) { nodes[index].apply(change) }
    default: break
    }
  }
}

extension NaiveKey.Kind {
  var type: any NaiveEntity.Type {
    switch self {
    case .leaf: NaiveLeaf.self
    case .node: NaiveNode.self
    case .box: NaiveBox.self
    }
  }
}
