// For generated code only, which does not know the types of the properties it sets.

/// Puts a value of type `Value` in `place`, and leaves it as it is when given anything else.
@inlinable
public func _set<Value>(_ place: inout Value, to value: Any?) {
  if let value = value as? Value { place = value }
}

/// `root` with a property set that a wrapper may have left without a setter: this one has it.
public func _setting<Root, Value>(_ property: WritableKeyPath<Root, Value>, of root: Root, to value: Any?) -> Root {
  var root = root
  _set(&root[keyPath: property], to: value)
  return root
}

/// `root` as it is: this property cannot be set.
@_disfavoredOverload
public func _setting<Root, Value>(_ property: KeyPath<Root, Value>, of root: Root, to value: Any?) -> Root {
  root
}
