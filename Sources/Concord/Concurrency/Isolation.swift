// Invariant: a function that is isolated to an actor has the same calling convention as one that is not; isolation is checked
// by the compiler only. The caller must call the result on the actor.

/// Returns a function without the isolation in its type.
@inlinable func withoutIsolation<Value>(
  _ function: @escaping @isolated(any) @Sendable (Value) -> Void
) -> @Sendable (Value) -> Void {
  unsafeBitCast(function, to: (@Sendable (Value) -> Void).self)
}
