import Concord

/// A walk through values of one dynamic type, looked up once per type because dynamic casts are slow.
protocol ValueWalker: Sendable {
  func visit(_ value: Any, _ visitor: ConsistentVisitor)
  func updated(_ value: Any, by merge: ConsistentMerge) -> Any?
}

private struct ConsistentWalker<Value: ConsistentValue>: ValueWalker {
  func visit(_ value: Any, _ visitor: ConsistentVisitor) {
    (value as? Value)?.visitConsistentObjects(visitor)
  }

  func updated(_ value: Any, by merge: ConsistentMerge) -> Any? {
    // Unwrapped first, since an optional in an optional would be mistaken for a value.
    guard let value = unboxed(value, as: Value.self), let newer = value.merged(by: merge) else { return nil }
    return newer
  }
}

/// Returns the boxed value if it has exactly this type. Comparing the type takes a fifth of the time of `as?`.
// Invariant: the bits are copied to a value of the same type, which is checked.
private func unboxed<Value>(_ value: Any, as type: Value.Type) -> Value? {
  func open<Boxed>(_ value: Boxed) -> Value? {
    Boxed.self == Value.self ? unsafeBitCast(value, to: Value.self) : value as? Value
  }
  return open(value)
}

private struct ContainerWalker<Value: DynamicContainer>: ValueWalker {
  func visit(_ value: Any, _ visitor: ConsistentVisitor) {
    (value as? Value)?.visitElements(visitor)
  }

  func updated(_ value: Any, by merge: ConsistentMerge) -> Any? {
    guard let value = value as? Value, let newer = value.mergedElements(by: merge) else { return nil }
    return newer
  }
}

/// Returns the walker for values of a type; `nil` if they contain nothing.
func valueWalker(for type: any Any.Type) -> (any ValueWalker)? {
  let key = ObjectIdentifier(type)
  if let walker = knownWalkers.withLock({ $0[key] }) { return walker }
  // Without the lock, because this runs the user's code.
  let walker = makeWalker(for: type)
  knownWalkers.withLock { $0[key] = .some(walker) }
  return walker
}

private let knownWalkers = Locked<[ObjectIdentifier: (any ValueWalker)?]>([:])

private func makeWalker(for type: any Any.Type) -> (any ValueWalker)? {
  func make<Value: ConsistentValue>(consistent type: Value.Type) -> any ValueWalker { ConsistentWalker<Value>() }
  func make<Value: DynamicContainer>(container type: Value.Type) -> any ValueWalker { ContainerWalker<Value>() }
  if let type = type as? any ConsistentValue.Type { return make(consistent: type) }
  guard let container = type as? any DynamicContainer.Type else { return nil }
  // A container whose elements contain nothing contains nothing.
  var types = ConsistentTypes()
  container.includeElements(in: &types)
  return types.isEmpty ? nil : make(container: container)
}

/// The walkers for the types of one walk, read without locking.
struct ValueWalkers {
  private var types: [ObjectIdentifier] = [ObjectIdentifier(String.self), ObjectIdentifier(Int.self)]
  private var walkers: [(any ValueWalker)?] = [nil, nil]
  private var rest: [ObjectIdentifier: (any ValueWalker)?] = [:]

  subscript(type: any Any.Type) -> (any ValueWalker)? {
    mutating get {
      let key = ObjectIdentifier(type)
      // A walk has few types: comparing is faster than hashing.
      if let index = types.firstIndex(of: key) { return walkers[index] }
      if let walker = rest[key] { return walker }
      let walker = valueWalker(for: type)
      if types.count < 16 {
        types.append(key)
        walkers.append(walker)
      } else {
        rest[key] = .some(walker)
      }
      return walker
    }
  }
}
