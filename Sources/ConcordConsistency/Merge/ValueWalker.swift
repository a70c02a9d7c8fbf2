import Concord

/// How to go through values of one dynamic type, looked up once per type because dynamic casts are slow.
// Unchecked, because a class with subclasses cannot be checked: they could have state that changes. None has any.
class ValueWalker: @unchecked Sendable {
  func visit(_ value: Any, _ visitor: ConsistentVisitor) {}

  func updated(_ value: Any, by merge: ConsistentMerge) -> Any? { nil }

  private static let known = Locked<[ObjectIdentifier: ValueWalker?]>([:])

  /// The walker for values of this type, `nil` if they hold nothing.
  static func of(_ type: any Any.Type) -> ValueWalker? {
    let key = ObjectIdentifier(type)
    if let walker = known.withLock({ $0[key] }) { return walker }
    // Outside of the lock, because this runs code of the types.
    let walker = make(for: type)
    known.withLock { $0[key] = .some(walker) }
    return walker
  }

  private static func make(for type: any Any.Type) -> ValueWalker? {
    if let type = type as? any ConsistentValue.Type { return make(consistent: type) }
    guard let container = type as? any DynamicContainer.Type else { return nil }
    // A container of elements that hold nothing holds nothing.
    var types = ConsistentTypes()
    container.includeElements(in: &types)
    return types.isEmpty ? nil : make(container: container)
  }

  private static func make<Value: ConsistentValue>(consistent type: Value.Type) -> ValueWalker {
    ConsistentWalker<Value>()
  }

  private static func make<Value: DynamicContainer>(container type: Value.Type) -> ValueWalker {
    ContainerWalker<Value>()
  }
}

// Unchecked, because its class above is; it has no state.
private final class ConsistentWalker<Value: ConsistentValue>: ValueWalker, @unchecked Sendable {
  override func visit(_ value: Any, _ visitor: ConsistentVisitor) {
    (value as? Value)?.visitConsistentObjects(visitor)
  }

  override func updated(_ value: Any, by merge: ConsistentMerge) -> Any? {
    // Unwrapped first, or an optional in an optional would be taken for a value.
    guard let value = value as? Value, let newer = value.merged(by: merge) else { return nil }
    return newer
  }
}

// Unchecked, because its class above is; it has no state.
private final class ContainerWalker<Value: DynamicContainer>: ValueWalker, @unchecked Sendable {
  override func visit(_ value: Any, _ visitor: ConsistentVisitor) {
    (value as? Value)?.visitElements(visitor)
  }

  override func updated(_ value: Any, by merge: ConsistentMerge) -> Any? {
    guard let value = value as? Value, let newer = value.mergedElements(by: merge) else { return nil }
    return newer
  }
}

/// The walkers for the types that one walk has met, read without locking.
struct ValueWalkers {
  private var types: [ObjectIdentifier] = [ObjectIdentifier(String.self), ObjectIdentifier(Int.self)]
  private var walkers: [ValueWalker?] = [nil, nil]
  private var rest: [ObjectIdentifier: ValueWalker?] = [:]

  subscript(type: any Any.Type) -> ValueWalker? {
    mutating get {
      let key = ObjectIdentifier(type)
      // A walk meets few types: comparing is faster than hashing.
      if let index = types.firstIndex(of: key) { return walkers[index] }
      if let walker = rest[key] { return walker }
      let walker = ValueWalker.of(type)
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
