public import Concord

// For generated code only, which leaves out the properties of types that everybody knows.

/// A type of the standard library or of Foundation: nothing stands in it.
@inlinable public func _leaveOut<T: _PlainValue>(_ type: T.Type) {}

/// A type of the user's by the same name, in which nothing is looked for either.
@_disfavoredOverload
@inlinable public func _leaveOut<T>(_ type: T.Type) {}

/// An object of the user's by the same name: it is not looked into, and the warning says so.
@available(
  *, deprecated,
  message: "an object with the name of a plain type: write it with its module, as in 'Shop.Date'"
)
@_disfavoredOverload
@inlinable public func _leaveOut<T: ConsistentValue>(_ type: T.Type) {}
