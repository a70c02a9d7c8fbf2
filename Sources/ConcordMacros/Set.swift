// For generated code only, which does not know the types of the properties it sets.

/// Puts a value of type `Value` in `place`, and leaves it as it is when given anything else.
@inlinable
public func _set<Value>(_ place: inout Value, to value: Any?) {
  if let value = value as? Value { place = value }
}

/// The same for a property that a wrapper may have left without a setter: this one has it.
public func _set<Root, Value>(_ property: WritableKeyPath<Root, Value>, of root: inout Root, to value: Any?) {
  if let value = value as? Value { root[keyPath: property] = value }
}

/// The same for one that cannot be set, which stays as it is.
@_disfavoredOverload
public func _set<Root, Value>(_ property: KeyPath<Root, Value>, of root: inout Root, to value: Any?) {}
