extension ConsistentValue {
  /// This value with everything in it, at any depth, that `object` or something in `object` is a newer state of.
  ///
  /// `object` may be of another type: then the parts that both share are merged. Where `object` has several states of
  /// one object, the outermost counts, among equally nested ones the last. Costs one walk through both.
  @inlinable
  public func updated(with object: any ConsistentObject) -> Self {
    merged(by: ConsistentMerge(of: object)) ?? self
  }
}

extension ConsistentValue where Self: Sendable {
  /// ``updated(with:)``, away from the caller's actor.
  ///
  /// It has a name of its own because it is no drop-in: what the caller has may change while it waits for the result.
  @concurrent
  public func updatedInBackground(with object: any ConsistentObject) async -> Self {
    updated(with: object)
  }

  /// ``updated(with:)`` on a queue of the environment's, in the order of the calls for that environment; `completion` is
  /// called on the main actor, in the same order.
  public func updated(
    with object: any ConsistentObject, in environment: AnyObject, completion: @escaping @MainActor (Self) -> Void
  ) {
    Telling.current?.noteMerge(with: object)
    EnvironmentQueues.shared.run({ self.updated(with: object) }, for: environment, thenOnMain: completion)
  }
}

// Disfavored, so that the literal `[video]` is an array of videos.
extension Array where Element == any ConsistentObject {
  /// These objects with everything in them that `object` or something in `object` is a newer state of.
  @_disfavoredOverload
  public func updated(with object: any ConsistentObject) -> [any ConsistentObject] {
    mergedElements(by: ConsistentMerge(of: object)) ?? self
  }

  /// The same, away from the caller's actor.
  @_disfavoredOverload
  @concurrent
  public func updatedInBackground(with object: any ConsistentObject) async -> [any ConsistentObject] {
    updated(with: object)
  }

  /// The same on a queue of the environment's, in the order of the calls for that environment; `completion` is
  /// called on the main actor, in the same order.
  @_disfavoredOverload
  public func updated(
    with object: any ConsistentObject, in environment: AnyObject,
    completion: @escaping @MainActor ([any ConsistentObject]) -> Void
  ) {
    Telling.current?.noteMerge(with: object)
    EnvironmentQueues.shared.run({ self.updated(with: object) }, for: environment, thenOnMain: completion)
  }
}
