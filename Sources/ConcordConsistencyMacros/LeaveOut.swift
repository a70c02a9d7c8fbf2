public import Concord

// For generated code only, which ignores properties of plain types.

/// Ignores a type of the standard library or of Foundation, which contains no objects.
@inlinable public func _leaveOut<T: _PlainValue>(_ type: T.Type) {}

/// Ignores a type of the user's that has the name of a plain type.
@_disfavoredOverload
@inlinable public func _leaveOut<T>(_ type: T.Type) {}

/// Warns of a type of objects that has the name of a plain type, and so is ignored.
@available(
  *, deprecated,
  message: "an object with the name of a plain type: write it with its module, as in 'Shop.Date'"
)
@_disfavoredOverload
@inlinable public func _leaveOut<T: ConsistentValue>(_ type: T.Type) {}
