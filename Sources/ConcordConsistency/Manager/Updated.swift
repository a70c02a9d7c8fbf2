extension ConsistentValue {
  /// Returns the value with the states of all objects in it, at any depth, replaced by those in `object`.
  ///
  /// `object` may be of another type: then the objects that both contain are merged. If `object` contains several states of
  /// one object, the outermost counts, or the last of equally nested ones.
  ///
  /// - Complexity: one walk through both.
  @inlinable
  public func updated(with object: any ConsistentObject) -> Self {
    merged(by: ConsistentMerge(of: object)) ?? self
  }
}

extension ConsistentValue where Self: Sendable {
  /// Returns the result of ``updated(with:)``, computed outside of the caller's actor.
  ///
  /// It has another name because it is no drop-in replacement: the caller's objects may change while it waits for the result.
  @concurrent
  public func updatedInBackground(with object: any ConsistentObject) async -> Self {
    updated(with: object)
  }

  /// Computes ``updated(with:)`` on a queue of the environment's, in the order of the calls for that environment.
  ///
  /// - Parameters:
  ///   - object: the object whose states are taken.
  ///   - environment: the environment whose calls keep their order.
  ///   - completion: a closure that receives the result on the main actor, once, in the order of the calls.
  public func updated(
    with object: any ConsistentObject, in environment: AnyObject, completion: @escaping @MainActor (Self) -> Void
  ) {
    Telling.current?.noteMerge(with: object)
    EnvironmentQueues.shared.run({ self.updated(with: object) }, for: environment, thenOnMain: completion)
  }
}

// Disfavored, so that the literal `[video]` is an array of videos.
extension Array where Element == any ConsistentObject {
  /// Returns the objects with the states of all objects in them replaced by those in `object`.
  @_disfavoredOverload
  public func updated(with object: any ConsistentObject) -> [any ConsistentObject] {
    mergedElements(by: ConsistentMerge(of: object)) ?? self
  }

  /// Returns the objects updated with `object`, computed outside of the caller's actor.
  @_disfavoredOverload
  @concurrent
  public func updatedInBackground(with object: any ConsistentObject) async -> [any ConsistentObject] {
    updated(with: object)
  }

  /// Updates the objects on a queue of the environment's, in the order of the calls for that environment.
  ///
  /// - Parameters:
  ///   - object: the object whose states are taken.
  ///   - environment: the environment whose calls keep their order.
  ///   - completion: a closure that receives the results on the main actor, once, in the order of the calls.
  @_disfavoredOverload
  public func updated(
    with object: any ConsistentObject, in environment: AnyObject,
    completion: @escaping @MainActor ([any ConsistentObject]) -> Void
  ) {
    Telling.current?.noteMerge(with: object)
    EnvironmentQueues.shared.run({ self.updated(with: object) }, for: environment, thenOnMain: completion)
  }
}
