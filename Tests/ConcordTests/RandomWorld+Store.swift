import Concord

/// The calls of the store on values given as trees.
extension ModelEntity {
  static func key(_ name: Int) -> AliasKey<Self> { AliasKey("\(name)") }
  static func listKey(_ name: Int) -> AliasKey<[Self]> { AliasKey("\(name)") }

  static func store(
    _ tree: Tree, in store: EntityStore, _ alias: Int?, _ stamp: Double?, _ edits: [Edit]?, called: @escaping () -> Void
  ) -> LiveHandle {
    let value = Self(tree: tree)
    guard let edits else {
      return LiveHandle(entity: store.store(value, named: alias.map(key), modifiedAt: stamp))
    }
    return LiveHandle(
      entity: store.store(value, named: alias.map(key), modifiedAt: stamp) {
        called()
        $0.edit(edits)
      })
  }

  static func storeAll(_ trees: [Tree], in store: EntityStore, _ alias: Int?, _ stamp: Double?) -> LiveHandle {
    let values = trees.map(Self.init(tree:))
    guard let alias else { return LiveHandle(list: store.store(values, modifiedAt: stamp)) }
    return LiveHandle(list: store.store(values, named: listKey(alias), modifiedAt: stamp))
  }

  static func update(
    _ id: Int, in store: EntityStore, _ stamp: Double?, _ edits: [Edit], inside: () -> Void
  ) -> Bool {
    store.update(Self.self, id: id, modifiedAt: stamp) {
      inside()
      $0.edit(edits)
    }
  }

  /// `edits` says in the closure what is to be done.
  static func update(_ id: Int, in store: EntityStore, choosing edits: () -> [Edit]) -> Bool {
    store.update(Self.self, id: id) { $0.edit(edits()) }
  }

  static func update(_ name: Model.AliasName, in store: EntityStore, _ stamp: Double?, _ edits: [Edit]) -> Bool {
    if name.isCollection {
      return store.update(named: listKey(name.name), modifiedAt: stamp) { values in
        let trees = values.map(\.tree)
        let result = edits.applied(toAll: trees)
        if result.map(\.ref) != trees.map(\.ref) {
          values = result.map(Self.init(tree:))
        } else {
          for index in values.indices where result[index] != trees[index] { values[index].become(result[index]) }
        }
      }
    }
    return store.update(named: key(name.name), modifiedAt: stamp) { $0.edit(edits) }
  }

  static func find(_ id: Int, in store: EntityStore) -> LiveHandle? {
    store.find(Self.self, id: id).map(LiveHandle.init(entity:))
  }

  static func observer(_ id: Int, in store: EntityStore) -> LiveHandle {
    LiveHandle(optional: store.observer(Self.self, id: id))
  }

  static func find(_ name: Model.AliasName, in store: EntityStore) -> LiveHandle {
    if name.isCollection { return LiveHandle(optionalList: store.find(named: listKey(name.name))) }
    return LiveHandle(optional: store.find(named: key(name.name)))
  }

  static func remove(_ id: Int, in store: EntityStore) -> Bool { store.remove(Self.self, id: id) }

  static func removeAlias(_ name: Model.AliasName, in store: EntityStore) {
    if name.isCollection {
      store.removeAlias(named: listKey(name.name))
    } else {
      store.removeAlias(named: key(name.name))
    }
  }

  private mutating func edit(_ edits: [Edit]) {
    let old = tree
    let new = edits.applied(to: old)
    if new.ref != old.ref { self = Self(tree: new) } else if new != old { become(new) }
  }
}
