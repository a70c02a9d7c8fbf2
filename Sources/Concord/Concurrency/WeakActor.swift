/// A weak reference to an actor.
///
/// The closures that are called on the actor often retain it. Who calls them does not: the actor may itself retain who is called.
package struct WeakActor: Sendable {
  // Unsafe to the compiler, which cannot see that it is never set again; reading it is atomic.
  package nonisolated(unsafe) private(set) weak var actor: (any Actor)?

  package init(_ actor: any Actor) { self.actor = actor }
}
