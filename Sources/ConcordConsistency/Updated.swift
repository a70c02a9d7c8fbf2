import Dispatch

extension ConsistentValue {
  /// This value with everything in it, at any depth, that `object` or something in `object` is a newer state of.
  ///
  /// `object` may be of another type: then the parts that both share are merged. Where `object` has several states of
  /// one object, the outermost counts, among equally nested ones the last. Costs one walk through both.
  @inlinable
  public func updated(with object: any ConsistentObject) -> Self {
    merged(by: ConsistentMerge(of: object)) ?? self
  }

  /// The same, away from the caller's actor.
  nonisolated(nonsending) public func updated(with object: any ConsistentObject) async -> Self {
    await elsewhere { self.updated(with: object) }
  }

  /// The same on a queue of the environment's, in the order of the calls for that environment; `completion` is
  /// called on the main queue, in the same order.
  public func updated(
    with object: any ConsistentObject, in environment: any ConsistentEnvironment,
    completion: @escaping (Self) -> Void
  ) {
    EnvironmentQueues.shared.run({ updated(with: object) }, for: environment, thenOnMain: completion)
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
  nonisolated(nonsending) public func updated(with object: any ConsistentObject) async -> [any ConsistentObject] {
    await elsewhere { self.updated(with: object) }
  }

  /// The same on a queue of the environment's, in the order of the calls for that environment; `completion` is
  /// called on the main queue, in the same order.
  @_disfavoredOverload
  public func updated(
    with object: any ConsistentObject, in environment: any ConsistentEnvironment,
    completion: @escaping ([any ConsistentObject]) -> Void
  ) {
    EnvironmentQueues.shared.run({ updated(with: object) }, for: environment, thenOnMain: completion)
  }
}

/// Runs `body` on a background queue.
nonisolated(nonsending) private func elsewhere<Result>(_ body: @escaping () -> Result) async -> Result {
  let body = Unchecked(body)
  return await withCheckedContinuation { continuation in
    let continuation = Unchecked(continuation)
    DispatchQueue.global(qos: .userInitiated).async {
      continuation.value.resume(returning: Unchecked(body.value()).value)
    }
  }
}
