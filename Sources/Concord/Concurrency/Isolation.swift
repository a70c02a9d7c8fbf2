// Relies on: a function that is isolated to an actor is called like one that is not; its isolation is what the compiler
// checks, and what the caller sees to. Who calls the result does so on the actor.

/// A function without the isolation in its type.
@inlinable func withoutIsolation<Value>(
  _ function: @escaping @isolated(any) @Sendable (Value) -> Void
) -> @Sendable (Value) -> Void {
  unsafeBitCast(function, to: (@Sendable (Value) -> Void).self)
}
