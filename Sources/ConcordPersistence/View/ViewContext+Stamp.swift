public import Concord
public import ConcordModel

extension ViewContext {
  /// How fresh an entity is, with the changes that are not saved. See ``BackgroundContext/stamp(of:id:)``.
  public func stamp<T: PersistentEntity>(of type: T.Type, id: T.ID) throws -> Stamp? {
    try locked { try core.stamp(of: type, id) }
  }
}
