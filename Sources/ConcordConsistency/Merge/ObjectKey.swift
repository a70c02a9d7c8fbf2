/// The identity of an object: its type and its id.
struct ObjectKey: Hashable {
  private let type: ObjectIdentifier
  private let id: AnyHashable

  init(_ object: any ConsistentObject) {
    type = ObjectIdentifier(Swift.type(of: object))
    id = object.consistentID
  }
}
