public import Concord
public import ConcordModel

extension ContextCore {
  func stamp<T: PersistentEntity>(of type: T.Type, _ id: T.ID) throws -> Stamp? {
    let key = EntityKey(try model.entity(type), try T.storedKey(of: id))
    return try read([key.entity]) { try $0.row(of: key)?.stamp }
  }
}

extension BackgroundContext {
  /// Returns the stamp of an entity, including unsaved changes. An update whose stamp is not newer is discarded.
  ///
  /// ```swift
  /// if let stamp = try context.stamp(of: Book.self, id: "ACK"), stamp < version { … }
  /// ```
  ///
  /// - Returns: `nil` if it is not stored.
  /// - Throws: ``/ConcordModel/StoreError``.
  public func stamp<T: PersistentEntity>(of type: T.Type, id: T.ID) throws -> Stamp? {
    try locked { try $0.stamp(of: type, id) }
  }
}

extension BackgroundContext {
  /// Fresher than all that was changed so far.
  package func nextStamp() -> Stamp { locked { $0.parent.nextStamp() } }
}
