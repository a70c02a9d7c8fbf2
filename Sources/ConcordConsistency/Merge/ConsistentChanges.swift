/// The differences between two states of a value, object by object.
///
/// ```swift
/// func update(with object: any ConsistentObject) {
///   let newer = videos.updated(with: object)
///   let changes = newer.changes(from: videos)
///   videos = newer
///   table.reloadRows(videos.indices.filter { changes.contains(videos[$0]) })
/// }
/// ```
///
/// An object that contains a changed object has changed, too. Where a value contains several states of one object, the outermost
/// counts.
public struct ConsistentChanges: Sendable {
  /// The objects that only the newer state of the value contains.
  public private(set) var inserted: [any ConsistentObject] = []
  /// The newer states of the objects that the value contains before and after, in different states.
  public private(set) var updated: [any ConsistentObject] = []
  /// The objects that only the older state of the value contains.
  public private(set) var removed: [any ConsistentObject] = []
  private var keys: Set<ObjectKey> = []

  init(from older: ContainedObjects, to newer: ContainedObjects) {
    for object in newer.objects {
      let key = ObjectKey(object)
      if let old = older[key] {
        if SameState.isCertain(of: object, old) { continue }
        updated.append(object)
      } else {
        inserted.append(object)
      }
      keys.insert(key)
    }
    for object in older.objects {
      let key = ObjectKey(object)
      if newer[key] != nil { continue }
      removed.append(object)
      keys.insert(key)
    }
  }

  /// Whether there are no differences.
  public var isEmpty: Bool { keys.isEmpty }

  /// Returns whether an object was inserted, updated or removed. Only its type and id count.
  public func contains(_ object: any ConsistentObject) -> Bool { keys.contains(ObjectKey(object)) }
}

extension ConsistentValue {
  /// Returns the differences from an older state of this value: the objects, at any depth, that were inserted, updated or
  /// removed since.
  ///
  /// An object counts as updated if any field of it differs, or an object inside it.
  ///
  /// - Complexity: one walk through both values.
  public func changes(from older: Self) -> ConsistentChanges {
    ConsistentChanges(
      from: ContainedObjects { older.visitConsistentObjects($0) }, to: ContainedObjects { visitConsistentObjects($0) })
  }
}

extension Array where Element == any ConsistentObject {
  /// Returns the differences from an older state of these objects: the objects, at any depth, that were inserted, updated or
  /// removed since.
  @_disfavoredOverload
  public func changes(from older: [any ConsistentObject]) -> ConsistentChanges {
    ConsistentChanges(
      from: ContainedObjects { visitor in older.forEach { visitor.visit(object: $0) } },
      to: ContainedObjects { visitor in forEach { visitor.visit(object: $0) } })
  }
}

/// The outermost states of all objects in a value.
struct ContainedObjects {
  /// The objects, outer ones first.
  private(set) var objects: [any ConsistentObject] = []
  /// The different states of each object, the outermost first.
  private var states: [ObjectKey: [any ConsistentObject]] = [:]

  init(_ visit: (ConsistentVisitor) -> Void) {
    let visitor = ConsistentVisitor()
    visit(visitor)
    var layer = visitor.takeFound()
    while !layer.isEmpty {
      // A state that was met is not entered again: so cycles of instances end, and a diamond costs its objects.
      for object in layer where insert(object) { visitor.visitParts(of: object) }
      layer = visitor.takeFound()
    }
  }

  subscript(key: ObjectKey) -> (any ConsistentObject)? { states[key]?[0] }

  /// Returns whether the state is a new one.
  private mutating func insert(_ object: any ConsistentObject) -> Bool {
    let key = ObjectKey(object)
    let known = states[key] ?? []
    if known.contains(where: { SameState.isCertain(of: object, $0) }) { return false }
    if known.isEmpty { objects.append(object) }
    states[key, default: []].append(object)
    return true
  }
}
