/// All objects that one merge brings or takes away, by type and id; built once, then read by any number of threads.
///
/// Where the same object comes several times, the occurrence nearest to the outside wins, among equally near ones the
/// last; the winner then stands at every place inside of the others (see `ConsistentIndex+Resolve.swift`). What is removed
/// wins over all states, and stands nowhere inside of them.
// Unchecked because its parts change only until `init` returns.
@usableFromInline
final class ConsistentIndex: @unchecked Sendable {
  /// One table a type that occurs.
  private var tables: [(type: ObjectIdentifier, table: IndexTable)] = []
  /// The types that occur.
  private(set) var types: Set<ObjectIdentifier> = []
  /// The winners, by position; what is removed in the state that was given.
  var winners: [any ConsistentObject] = []
  /// In how many states, as far as one can see, the object at a position occurs.
  private(set) var occurrences: [Int] = []
  /// Which object contains which, by position; only what `resolve` needs.
  private(set) var links: [(parent: Int, child: Int)] = []
  /// Whether what stands at a position is not what was found there, because something inside was replaced.
  var isResolved: [Bool] = []
  /// Whether what stands at a position is removed.
  private(set) var isRemoved: [Bool] = []
  /// Whether anything is removed.
  @usableFromInline private(set) var removes = false
  private(set) var hasDuplicates = false

  init(_ roots: [any ConsistentObject], removing removed: [any ConsistentObject] = []) {
    gather(
      roots.flatMap { ($0 as? ConsistentBatch)?.objects ?? [$0] },
      removing: removed + roots.flatMap { ($0 as? ConsistentBatch)?.removed ?? [] })
    if hasDuplicates || removes { resolve() }
  }

  /// The states that it brings.
  var updated: [any ConsistentObject] {
    removes ? zip(winners, isRemoved).compactMap { $1 ? nil : $0 } : winners
  }

  /// What it takes away.
  var removed: [any ConsistentObject] {
    removes ? zip(winners, isRemoved).compactMap { $1 ? $0 : nil } : []
  }

  func remove(at position: Int) {
    isRemoved[position] = true
    removes = true
  }

  /// The index of what `object` brings; a batch has it already.
  static func of(_ object: any ConsistentObject) -> ConsistentIndex {
    (object as? ConsistentBatch)?.index ?? ConsistentIndex([object])
  }

  /// Breadth first, so that the first occurrence that is met is the nearest, and depth costs no stack.
  private func gather(_ roots: [any ConsistentObject], removing removed: [any ConsistentObject]) {
    for object in removed {
      let table = makeTable(for: object, capacity: removed.count)
      guard table.insert(object, at: winners.count)?.isNew == true else { continue }
      winners.append(object)
      occurrences.append(1)
      isRemoved.append(true)
      removes = true
    }
    let visitor = ConsistentVisitor()
    var depths = Array(repeating: 0, count: winners.count)
    var instances: Set<ObjectIdentifier> = []
    var layer: [(object: any ConsistentObject, parent: Int?)] = roots.map { ($0, nil) }
    var depth = 0
    while !layer.isEmpty {
      var next: [(object: any ConsistentObject, parent: Int?)] = []
      for (object, parent) in layer {
        let table = makeTable(for: object, capacity: layer.count)
        guard let (position, isNew) = table.insert(object, at: winners.count) else { continue }
        if let parent { links.append((parent, position)) }
        if !isNew, isRemoved[position] { continue }
        if table.holdsInstances, !instances.insert(ObjectIdentifier(object as AnyObject)).inserted { continue }
        if isNew {
          winners.append(object)
          occurrences.append(1)
          isRemoved.append(false)
          depths.append(depth)
        } else if table.areSame(object, winners[position]) {
          continue
        } else {
          occurrences[position] += 1
          hasDuplicates = true
          if depths[position] == depth { winners[position] = object }
        }
        if table.isFlat { continue }
        table.visitParts(of: object, visitor)
        for part in visitor.takeFound() { next.append((part, position)) }
      }
      layer = next
      depth += 1
    }
    isResolved = Array(repeating: false, count: winners.count)
  }

  private func makeTable(for object: any ConsistentObject, capacity: Int) -> IndexTable {
    let type = type(of: object)
    if let table = table(for: type) { return table }
    let table = IndexTable.make(for: type, capacity: capacity)
    tables.append((ObjectIdentifier(type), table))
    types.insert(ObjectIdentifier(type))
    return table
  }

  func table(for type: any Any.Type) -> IndexTable? {
    let key = ObjectIdentifier(type)
    // What is merged has few types, mostly one: comparing is faster than hashing.
    for (type, table) in tables where type == key { return table }
    return nil
  }

  /// Whether the object with this identity is removed.
  func brings(removalOf object: any ConsistentObject) -> Bool {
    position(of: object).map { isRemoved[$0] } ?? false
  }

  /// The position of the object with this identity, if the merge brings it.
  func position(of object: any ConsistentObject) -> Int? {
    guard let table = table(for: type(of: object)) else { return nil }
    return table.position(of: object)
  }
}
