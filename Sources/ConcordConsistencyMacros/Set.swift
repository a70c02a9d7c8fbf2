// For generated code only, which does not know the types of the properties it sets.

/// Assigns a value of type `Value` to `place`; ignores any other.
@inlinable
public func _set<Value>(_ place: inout Value, to value: Any?) {
  if let value = value as? Value { place = value }
}

/// Returns `root` with a property set. For a property whose wrapper may give it no setter, and that has one.
public func _setting<Root, Value>(_ property: WritableKeyPath<Root, Value>, of root: Root, to value: Any?) -> Root {
  var root = root
  _set(&root[keyPath: property], to: value)
  return root
}

/// Returns `root` unchanged, since the property has no setter.
@_disfavoredOverload
public func _setting<Root, Value>(_ property: KeyPath<Root, Value>, of root: Root, to value: Any?) -> Root {
  root
}
