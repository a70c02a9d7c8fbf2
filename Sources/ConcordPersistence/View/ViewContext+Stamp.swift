public import Concord
public import ConcordModel

extension ViewContext {
  /// Returns the stamp of an entity, including unsaved changes. See ``BackgroundContext/stamp(of:id:)``.
  public func stamp<T: PersistentEntity>(of type: T.Type, id: T.ID) throws -> Stamp? {
    try locked { try core.stamp(of: type, id) }
  }
}
