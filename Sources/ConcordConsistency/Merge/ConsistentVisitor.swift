/// Gathers the objects in a value, one layer at a time: an object is taken, not entered.
public final class ConsistentVisitor {
  /// The objects of the layer that is being gathered.
  private(set) var found: [any ConsistentObject] = []
  private var kinds = ValueKinds()

  init() {}

  /// Visits the objects in `value`.
  @inlinable
  public func visit<Value: ConsistentValue>(_ value: Value) {
    value.visitConsistentObjects(self)
  }

  /// Visits a value of which nothing is known: it holds objects only if its type leaves that open.
  @inlinable
  public func visit<Value>(_ value: Value) {
    // Both are decided when this is specialised, so that plain fields cost nothing.
    if _isPOD(Value.self) || Value.self == String.self || Value.self == String?.self { return }
    visit(dynamic: value)
  }

  /// Takes `object` itself.
  @inlinable
  public func visit(object: any ConsistentObject) {
    take(object)
  }

  @usableFromInline
  func take(_ object: any ConsistentObject) {
    found.append(object)
  }

  @usableFromInline
  func visit(dynamic value: Any) {
    switch kinds[type(of: value)] {
    case .leaf: break
    case .consistent(let type): visit(value, as: type)
    case .container: (value as? any DynamicContainer)?.visitElements(self)
    }
  }

  private func visit<Value: ConsistentValue>(_ value: Any, as type: Value.Type) {
    (value as? Value)?.visitConsistentObjects(self)
  }

  /// The objects found since the last call.
  func takeFound() -> [any ConsistentObject] {
    defer { found.removeAll() }
    return found
  }
}
