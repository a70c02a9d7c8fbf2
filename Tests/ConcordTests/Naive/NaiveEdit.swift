import Concord

/// A write, in the base or in a layer. An alias of one entity and one of a list is there for each kind.
enum NaiveEdit: Sendable {
  case store(NaiveTree, Double?)
  case storeSeveral([NaiveTree], Double?)
  case update(NaiveKey, NaiveChange, Double?)
  case remove(NaiveKey)
  case name(NaiveTree, Double?)
  case updateNamed(NaiveKey.Kind, NaiveChange, Double?)
  /// Makes an alias name another entity by changing the id in an update.
  case rename(NaiveKey.Kind, id: Int, NaiveChange, Double?)
  case unname(NaiveKey.Kind)
  case collect(NaiveKey.Kind, [NaiveTree], Double?)
  case appendToCollection(NaiveTree, Double?)
  case changeInCollection(NaiveKey.Kind, index: Int, NaiveChange, Double?)
  case uncollect(NaiveKey.Kind)
  case removeAllAlias
  case removeAll
  /// Reads an entity, and puts what it reads into the field of another one of the kind.
  case copyField(from: NaiveKey, to: NaiveKey)
  /// Throws if an entity has an odd field.
  case refuseOdd(NaiveKey)

  /// The entities that the result of the call observes.
  var returned: [NaiveKey] {
    switch self {
    case .store(let tree, _), .name(let tree, _): [tree.key]
    case .storeSeveral(let trees, _), .collect(_, let trees, _): trees.map(\.key)
    default: []
    }
  }

  var isReading: Bool {
    switch self {
    case .copyField, .refuseOdd: true
    default: false
    }
  }

  func apply(to store: EntityStore) throws {
    switch self {
    case .store(let tree, let stamp): tree.key.kind.type.store(tree, nil, stamp, in: store)
    case .storeSeveral(let trees, let stamp):
      if let kind = trees.first?.key.kind { kind.type.storeSeveral(trees, stamp, in: store) }
    case .update(let key, let change, let stamp): key.kind.type.update(key.id, change, stamp, in: store)
    case .remove(let key): key.kind.type.remove(key.id, in: store)
    case .name(let tree, let stamp): tree.key.kind.type.store(tree, "one", stamp, in: store)
    case .updateNamed(let kind, let change, let stamp): kind.type.updateNamed(change, nil, stamp, in: store)
    case .rename(let kind, let id, let change, let stamp): kind.type.updateNamed(change, id, stamp, in: store)
    case .unname(let kind): kind.type.unname(in: store)
    case .collect(let kind, let trees, let stamp): kind.type.collect(trees, stamp, in: store)
    case .appendToCollection(let tree, let stamp): tree.key.kind.type.append(tree, stamp, in: store)
    case .changeInCollection(let kind, let index, let change, let stamp):
      kind.type.change(index, change, stamp, in: store)
    case .uncollect(let kind): kind.type.uncollect(in: store)
    case .removeAllAlias: store.removeAllAlias()
    case .removeAll: store.removeAll()
    case .copyField(let from, let to):
      if let field = from.kind.type.read(from.id, in: store)?.field {
        to.kind.type.update(to.id, .field(field), nil, in: store)
      }
    case .refuseOdd(let key):
      if let field = key.kind.type.read(key.id, in: store)?.field, field % 2 == 1 { throw Refused() }
    }
  }
}

extension NaiveEntity {
  static var list: AliasKey<[Self]> { "several" }

  static func store(_ tree: NaiveTree, _ name: String?, _ stamp: Double?, in store: EntityStore) {
    store.store(Self(tree), named: name.map { AliasKey<Self>($0) }, modifiedAt: stamp)
  }
  static func storeSeveral(_ trees: [NaiveTree], _ stamp: Double?, in store: EntityStore) {
    store.store(trees.map(Self.init), modifiedAt: stamp)
  }
  static func update(_ id: Int, _ change: NaiveChange, _ stamp: Double?, in store: EntityStore) {
    store.update(Self.self, id: id, modifiedAt: stamp) { $0.apply(change) }
  }
  static func remove(_ id: Int, in store: EntityStore) { store.remove(Self.self, id: id) }
  static func updateNamed(_ change: NaiveChange, _ id: Int?, _ stamp: Double?, in store: EntityStore) {
    store.update(named: AliasKey<Self>("one"), modifiedAt: stamp) { value in
      value.apply(change)
      guard let id else { return }
      var tree = value.tree
      tree.key = NaiveKey(kind, id)
      value = Self(tree)
    }
  }
  static func unname(in store: EntityStore) { store.removeAlias(named: AliasKey<Self>("one")) }
  static func collect(_ trees: [NaiveTree], _ stamp: Double?, in store: EntityStore) {
    store.store(trees.map(Self.init), named: list, modifiedAt: stamp)
  }
  static func append(_ tree: NaiveTree, _ stamp: Double?, in store: EntityStore) {
    store.update(named: list, modifiedAt: stamp) { $0.append(Self(tree)) }
  }
  static func change(_ index: Int, _ change: NaiveChange, _ stamp: Double?, in store: EntityStore) {
    store.update(named: list, modifiedAt: stamp) { if $0.indices.contains(index) { $0[index].apply(change) } }
  }
  static func uncollect(in store: EntityStore) { store.removeAlias(named: list) }

  static func read(_ id: Int, in store: EntityStore) -> NaiveTree? { store.value(Self.self, id: id)?.tree }
  static func readStamp(_ id: Int, in store: EntityStore) -> Double? { store.stampedValue(Self.self, id: id)?.stamp }
  static func readNamed(in store: EntityStore) -> NaiveTree? { store.find(named: AliasKey<Self>("one")).value?.tree }
  static func readCollection(in store: EntityStore) -> [NaiveTree]? { store.find(named: list).value?.map(\.tree) }
  static func observe(_ id: Int, in store: EntityStore) -> Any { store.observer(Self.self, id: id) }
}
