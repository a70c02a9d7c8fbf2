import Synchronization

/// What a value of some dynamic type can hold, looked up once per type because dynamic casts are slow.
struct ValueKinds {
  // Unchecked because of the metatype, which is immutable; its conformance is not tied to an actor, or the cast
  // that found it would have failed elsewhere.
  enum Kind: @unchecked Sendable {
    case leaf
    case consistent(any ConsistentValue.Type)
    case container
  }

  private static let known = Mutex<[ObjectIdentifier: Kind]>([:])

  /// The part of `known` that one walk has met, which is read without locking.
  private var met: [ObjectIdentifier: Kind] = [:]

  subscript(type: any Any.Type) -> Kind {
    mutating get {
      let key = ObjectIdentifier(type)
      if let kind = met[key] { return kind }
      let kind = Self.kind(of: type)
      met[key] = kind
      return kind
    }
  }

  private static func kind(of type: any Any.Type) -> Kind {
    let key = ObjectIdentifier(type)
    if let kind = known.withLock({ $0[key] }) { return kind }
    // Outside of the lock, because this runs code of the types.
    let kind = find(type)
    known.withLock { $0[key] = kind }
    return kind
  }

  private static func find(_ type: any Any.Type) -> Kind {
    if let type = type as? any ConsistentValue.Type { return .consistent(type) }
    guard let container = type as? any DynamicContainer.Type else { return .leaf }
    // A container of elements that hold nothing holds nothing.
    var types = ConsistentTypes()
    container.includeElements(in: &types)
    return types.isEmpty ? .leaf : .container
  }
}
