// Invariant: another reference retains the object for as long as the borrowed one is used. For nodes and their lists of
// children that is the graph: edges are strong in both directions, tables retain the nodes of their entities, and neither
// changes during a walk. A node retains its subscribers, and a list of children its schema, while the lock is held.
//
// The search for components keeps such references between transactions, too: the root of a component and the paths from and
// to it (`RootPaths`, which says who removes them), and neighbours in the topological order (`Rank`). The node of a rank, or
// the component, takes it out of the order before it is freed: once it has no children of recursive types, or no nodes.
//
// Debug builds check it: there the reference traps once the object is released.

/// A reference that is not counted. Counting is atomic, and was two thirds of the time that it takes to mark 10,000 parents.
@usableFromInline struct Borrowed<Object: AnyObject> {
  #if DEBUG
    unowned fileprivate let object: Object

    @usableFromInline init(_ object: Object) { self.object = object }
    @usableFromInline init<Base>(downcasting base: Borrowed<Base>) where Base: AnyObject {
      object = unsafeDowncast(base.object, to: Object.self)
    }
    @usableFromInline func use<R>(_ body: (Object) -> R) -> R { body(object) }
  #else
    @usableFromInline let reference: Unmanaged<Object>

    @inlinable @inline(__always) init(_ object: Object) { reference = .passUnretained(object) }
    /// The caller has checked that it is one.
    @inlinable @inline(__always) init<Base>(downcasting base: Borrowed<Base>) where Base: AnyObject {
      reference = .fromOpaque(base.reference.toOpaque())
    }
    @inlinable @inline(__always) func use<R>(_ body: (Object) -> R) -> R { reference._withUnsafeGuaranteedRef(body) }
  #endif
}
