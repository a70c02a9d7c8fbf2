/// Gathers the objects in a value, one layer at a time: an object is taken, not entered.
public final class ConsistentVisitor {
  /// The objects of the layer that is being gathered.
  private(set) var found: [any ConsistentObject] = []
  private var walkers = ValueWalkers()

  init() {}

  /// Visits the objects in `value`.
  @inlinable
  public func visit<Value: ConsistentValue>(_ value: Value) {
    value.visitConsistentObjects(self)
  }

  /// Visits a value of which nothing is known: it holds objects only if its type leaves that open.
  @inlinable
  public func visit<Value>(_ value: Value) {
    if isPlain(Value.self) { return }
    visit(dynamic: value)
  }

  /// Takes `object` itself.
  public func visit(object: any ConsistentObject) {
    found.append(object)
  }

  @usableFromInline
  func visit(dynamic value: Any) {
    walkers[type(of: value)]?.visit(value, self)
  }

  /// The objects found since the last call.
  func takeFound() -> [any ConsistentObject] {
    defer { found.removeAll() }
    return found
  }
}
