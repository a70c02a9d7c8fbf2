/// An entity that stands in another one, or under an alias.
struct NaiveContained: Hashable {
  let place: String
  let inside: NaiveKey
}

/// What is stored, in a few dictionaries.
struct NaiveRows: Equatable {
  struct Row: Equatable {
    var field: Int
    var relations: [[NaiveKey]]
    var stamp: Double
  }
  struct Alias<Content: Equatable>: Equatable {
    var content: Content
    var stamp: Double
  }

  var rows: [NaiveKey: Row] = [:]
  var named: [NaiveKey.Kind: Alias<NaiveKey>] = [:]
  var collections: [NaiveKey.Kind: Alias<[NaiveKey]>] = [:]

  /// An entity as it reads, with all inside it.
  func tree(_ key: NaiveKey) -> NaiveTree? {
    rows[key].map { row in
      NaiveTree(key: key, field: row.field, relations: row.relations.map { $0.compactMap(tree) })
    }
  }

  /// Which entities stand where.
  var contained: Set<NaiveContained> {
    var found: Set<NaiveContained> = []
    for (key, row) in rows {
      for other in row.relations.joined() { found.insert(.init(place: "\(key)", inside: other)) }
    }
    for (kind, alias) in named { found.insert(.init(place: "one \(kind)", inside: alias.content)) }
    for (kind, alias) in collections {
      for other in alias.content { found.insert(.init(place: "several \(kind)", inside: other)) }
    }
    return found
  }

  /// Releases what nothing retains: no holder, no alias, no parent that is retained itself.
  mutating func release(holders: Set<NaiveKey>) {
    var reached: Set<NaiveKey> = []
    var open = Array(holders) + named.values.map(\.content) + collections.values.flatMap(\.content)
    while let key = open.popLast() {
      guard let row = rows[key], reached.insert(key).inserted else { continue }
      open += row.relations.joined()
    }
    rows = rows.filter { reached.contains($0.key) }
  }
}

/// Makes edits as a store is documented to.
struct NaiveWriter {
  enum Origin { case base, layer, commit }
  enum Problem { case missing, thrown }

  var rows: NaiveRows
  let origin: Origin
  /// Whether a write without a stamp gets one of the clock.
  let hasClock: Bool
  /// The clock: any two of its stamps are nearer to each other than to a stamp that is given.
  var tick: Double
  var problem: Problem?
  /// The entities that were written, whether or not they changed.
  var touched: Set<NaiveKey> = []

  // MARK: Stamps

  /// Judges a write. Returns the stamp that the entity or the alias has afterwards; `nil` if the write is discarded.
  mutating func judge(_ stored: Double?, _ given: Double?) -> Double? {
    let old = stored ?? -.infinity
    if origin == .layer { return old }
    guard let given else {
      guard hasClock else { return old }
      tick = tick.nextUp
      return tick > old ? tick : old.nextUp
    }
    if given > old || stored == nil { return given }
    return origin == .commit ? old : nil
  }

  // MARK: Writing values

  /// Stores values as a call of `store` does: all that they contain is judged on its own. Of several values of one entity the
  /// outermost counts, among equals the last.
  mutating func store(_ trees: [NaiveTree], _ given: Double?) {
    var winners: [NaiveKey: NaiveTree] = [:]
    var level = trees
    while !level.isEmpty {
      var here: [NaiveKey: NaiveTree] = [:]
      for tree in level { here[tree.key] = tree }
      winners.merge(here) { outer, _ in outer }
      level = level.flatMap { $0.relations.joined() }
    }
    for tree in winners.values { write(tree, given) }
  }

  fileprivate mutating func write(_ tree: NaiveTree, _ given: Double?) {
    guard let stamp = judge(rows.rows[tree.key]?.stamp, given) else { return }
    rows.rows[tree.key] = .init(field: tree.field, relations: tree.relations.map { $0.map(\.key) }, stamp: stamp)
    touched.insert(tree.key)
  }

  /// Writes what a closure changed of a value: an occurrence that differs from what is stored of the entity is an edit. That of
  /// `target` has been judged already.
  mutating func writeEdits(of trees: [NaiveTree], target: NaiveKey?, _ given: Double?) {
    let before = rows
    var edits: [NaiveKey: NaiveTree] = [:]
    var level = trees
    while !level.isEmpty {
      var here: [NaiveKey: NaiveTree] = [:]
      var next: [NaiveTree] = []
      for tree in level where before.tree(tree.key) != tree {
        let row = before.rows[tree.key]
        if row?.field != tree.field || row?.relations != tree.relations.map({ $0.map(\.key) }) { here[tree.key] = tree }
        next += tree.relations.joined()
      }
      edits.merge(here) { outer, _ in outer }
      level = next
    }
    for tree in edits.values {
      if tree.key == target {
        rows.rows[tree.key]?.field = tree.field
        rows.rows[tree.key]?.relations = tree.relations.map { $0.map(\.key) }
      } else {
        write(tree, given)
      }
    }
  }

  /// Changes an entity as an `update` does. Returns whether the write was taken.
  @discardableResult
  mutating func update(_ key: NaiveKey, _ change: NaiveChange, _ given: Double?) -> Bool {
    guard var tree = rows.tree(key) else {
      miss()
      return false
    }
    guard let stamp = judge(rows.rows[key]?.stamp, given) else { return false }
    rows.rows[key]?.stamp = stamp
    touched.insert(key)
    change.apply(to: &tree)
    writeEdits(of: [tree], target: key, given)
    return true
  }

  mutating func miss() { if problem == nil { problem = .missing } }

  // MARK: Removing

  mutating func remove(_ key: NaiveKey) {
    guard rows.rows[key] != nil else { return }
    rows.rows[key] = nil
    touched.insert(key)
    if rows.named[key.kind]?.content == key { rows.named[key.kind] = nil }
    rows.collections[key.kind]?.content.removeAll { $0 == key }
    for (parent, row) in rows.rows where row.relations.joined().contains(key) {
      if row.relations.indices.contains(where: { parent.kind.requires($0) && row.relations[$0].contains(key) }) {
        remove(parent)
      } else {
        rows.rows[parent]?.relations = row.relations.map { $0.filter { $0 != key } }
        touched.insert(parent)
      }
    }
  }

  // MARK: Aliases

  mutating func point(_ key: NaiveKey, _ given: Double?) {
    guard let stamp = judge(rows.named[key.kind]?.stamp, given) else { return }
    rows.named[key.kind] = .init(content: key, stamp: stamp)
  }
}

extension NaiveEdit {
  func apply(to writer: inout NaiveWriter) {
    // After an error the closure does nothing any more.
    if writer.problem == .thrown { return }
    switch self {
    case .store(let tree, let stamp): writer.store([tree], stamp)
    case .storeSeveral(let trees, let stamp): writer.store(trees, stamp)
    case .update(let key, let change, let stamp): writer.update(key, change, stamp)
    case .remove(let key): writer.remove(key)
    case .name(let tree, let stamp):
      writer.store([tree], stamp)
      writer.point(tree.key, stamp)
    case .updateNamed(let kind, let change, let stamp):
      guard let key = writer.rows.named[kind]?.content else { return writer.miss() }
      if writer.update(key, change, stamp) { writer.point(key, stamp) }
    case .rename(let kind, let id, let change, let stamp):
      guard let key = writer.rows.named[kind]?.content else { return writer.miss() }
      if key.id == id {
        if writer.update(key, change, stamp) { writer.point(key, stamp) }
        return
      }
      guard var tree = writer.rows.tree(key) else { return writer.miss() }
      // The closure is not called if it is known that the entity which the alias names has a newer stamp.
      if let stamp, writer.origin == .base, !(stamp > writer.rows.rows[key]?.stamp ?? -.infinity) { return }
      change.apply(to: &tree)
      tree.key = NaiveKey(kind, id)
      writer.storeMade(tree, stamp)
      writer.point(tree.key, stamp)
    case .unname(let kind): writer.rows.named[kind] = nil
    case .collect(let kind, let trees, let stamp):
      let newStamp = writer.judge(writer.rows.collections[kind]?.stamp, stamp)
      if let newStamp { writer.rows.collections[kind] = .init(content: trees.map(\.key), stamp: newStamp) }
      writer.store(trees, stamp)
    case .appendToCollection(let tree, let stamp):
      writer.updateCollection(tree.key.kind, stamp) { $0.append(tree) }
    case .changeInCollection(let kind, let index, let change, let stamp):
      writer.updateCollection(kind, stamp) { trees in
        if trees.indices.contains(index) { change.apply(to: &trees[index]) }
      }
    case .uncollect(let kind): writer.rows.collections[kind] = nil
    case .removeAllAlias: (writer.rows.named, writer.rows.collections) = ([:], [:])
    case .removeAll:
      writer.touched.formUnion(writer.rows.rows.keys)
      writer.rows = NaiveRows()
    case .copyField(let from, let to):
      if let field = writer.rows.rows[from]?.field { writer.update(to, .field(field), nil) }
    case .refuseOdd(let key): if let field = writer.rows.rows[key]?.field, field % 2 == 1 { writer.problem = .thrown }
    }
  }
}

extension NaiveWriter {
  /// Stores a value that a closure made of another entity's: itself, and what the closure changed in it.
  mutating func storeMade(_ tree: NaiveTree, _ given: Double?) {
    writeEdits(of: tree.relations.flatMap { $0 }, target: nil, given)
    write(tree, given)
  }

  mutating func updateCollection(_ kind: NaiveKey.Kind, _ given: Double?, _ change: (inout [NaiveTree]) -> Void) {
    guard let alias = rows.collections[kind] else { return miss() }
    guard let stamp = judge(alias.stamp, given) else { return }
    var trees = alias.content.compactMap(rows.tree)
    change(&trees)
    rows.collections[kind] = .init(content: trees.map(\.key), stamp: stamp)
    writeEdits(of: trees, target: nil, given)
  }
}
