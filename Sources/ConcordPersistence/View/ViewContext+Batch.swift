public import Concord
public import ConcordModel
import Foundation

extension ViewContext {
  /// Changes all entities that a predicate finds. See ``BackgroundContext/update(_:where:modifiedAt:_:)``.
  @discardableResult
  public func update<T: PersistentEntity>(
    _ type: T.Type, where predicate: Predicate<T>?, modifiedAt stamp: Stamp? = nil, _ body: (inout T) throws -> Void
  ) throws -> Int {
    try change { try $0.update(type, where: predicate, stamp, body) }
  }

  /// Deletes all entities that a predicate finds. See ``BackgroundContext/delete(_:where:modifiedAt:)``.
  @discardableResult
  public func delete<T: PersistentEntity>(
    _ type: T.Type, where predicate: Predicate<T>?, modifiedAt stamp: Stamp? = nil
  ) throws -> Int {
    try change { try $0.delete(type, where: predicate, stamp) }
  }
}
