/// The identity of an object: its type and its id.
struct ObjectKey: Hashable, Sendable {
  private let type: ObjectIdentifier
  // Unchecked by the compiler, since `AnyHashable` is not `Sendable`; the id is a part of an object, which is.
  nonisolated(unsafe) private let id: AnyHashable

  init(_ object: any ConsistentObject) {
    type = ObjectIdentifier(Swift.type(of: object))
    id = object.consistentID
  }
}
