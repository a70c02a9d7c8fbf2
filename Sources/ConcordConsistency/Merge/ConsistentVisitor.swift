/// A visitor that collects the objects in a value, one level at a time: an object is collected, and not entered.
public final class ConsistentVisitor {
  /// The objects of the level that is being collected.
  private(set) var found: [any ConsistentObject] = []
  private var walkers = ValueWalkers()

  init() {}

  /// Visits the objects in `value`.
  @inlinable
  public func visit<Value: ConsistentValue>(_ value: Value) {
    value.visitConsistentObjects(self)
  }

  /// Visits a value of any type, which contains objects only if its contents are known only at run time.
  @inlinable
  public func visit<Value>(_ value: Value) {
    if isPlain(Value.self) { return }
    visit(dynamic: value)
  }

  /// Collects an object.
  public func visit(object: any ConsistentObject) {
    found.append(object)
  }

  /// Visits the objects inside an object.
  func visitParts(of object: any ConsistentObject) {
    if let object = object as? any StaticallyConsistent {
      object.visitConsistentParts(self)
    } else {
      visitProperties(of: object)
    }
  }

  /// Visits the objects in the properties of an object.
  func visitProperties(of object: any ConsistentObject) {
    for case (_, let value?) in object.properties { visit(dynamic: value) }
  }

  @usableFromInline
  func visit(dynamic value: Any) {
    walkers[type(of: value)]?.visit(value, self)
  }

  /// Returns the objects collected since the last call.
  func takeFound() -> [any ConsistentObject] {
    defer { found.removeAll() }
    return found
  }
}
