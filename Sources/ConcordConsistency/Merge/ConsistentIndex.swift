/// An index of all objects that one merge brings or removes, by type and id; built once, then read by any number of threads.
///
/// If the same object occurs several times, the outermost occurrence wins, or the last of equally nested ones. The winner
/// then replaces all others (see `ConsistentIndex+Resolve.swift`). A removal wins over all states, and the removed object is
/// removed from them.
// Unchecked because its parts change only until `init` returns.
@usableFromInline
final class ConsistentIndex: @unchecked Sendable {
  /// A table for each type that occurs.
  private var tables: [(type: ObjectIdentifier, table: IndexTable)] = []
  /// The types that occur.
  private(set) var types: Set<ObjectIdentifier> = []
  /// The winners, by position; removed objects in the state that was given.
  var winners: [any ConsistentObject] = []
  /// The number of states in which the object at a position occurs, as far as can be told.
  private(set) var occurrences: [Int] = []
  /// The containment of objects in further objects, by position; only the links that `resolve` needs.
  private(set) var links: [(parent: Int, child: Int)] = []
  /// Whether the object at a position was changed, because an object inside it was replaced.
  var isResolved: [Bool] = []
  /// Whether the object at a position is removed.
  private(set) var isRemoved: [Bool] = []
  /// Whether any object is removed.
  @usableFromInline private(set) var removes = false
  private(set) var hasDuplicates = false

  init(_ roots: [any ConsistentObject], removing removed: [any ConsistentObject] = []) {
    gather(
      roots.flatMap { ($0 as? ConsistentBatch)?.objects ?? [$0] },
      removing: removed + roots.flatMap { ($0 as? ConsistentBatch)?.removed ?? [] })
    if hasDuplicates || removes { resolve() }
  }

  /// The states that the merge brings.
  var updated: [any ConsistentObject] {
    removes ? zip(winners, isRemoved).compactMap { $1 ? nil : $0 } : winners
  }

  /// The objects that the merge removes.
  var removed: [any ConsistentObject] {
    removes ? zip(winners, isRemoved).compactMap { $1 ? $0 : nil } : []
  }

  func remove(at position: Int) {
    isRemoved[position] = true
    removes = true
  }

  /// Returns the index of the objects in `object`, which a batch has already.
  static func of(_ object: any ConsistentObject) -> ConsistentIndex {
    (object as? ConsistentBatch)?.index ?? ConsistentIndex([object])
  }

  /// Collects the objects breadth-first, so that the first occurrence is the outermost, and depth costs no stack.
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
    // A merge has few types, usually one: comparing is faster than hashing.
    for (type, table) in tables where type == key { return table }
    return nil
  }

  /// Whether the merge removes the object with an identity.
  func brings(removalOf object: any ConsistentObject) -> Bool {
    position(of: object).map { isRemoved[$0] } ?? false
  }

  /// Returns the position of the object with an identity, if the merge brings it.
  func position(of object: any ConsistentObject) -> Int? {
    guard let table = table(for: type(of: object)) else { return nil }
    return table.position(of: object)
  }
}
