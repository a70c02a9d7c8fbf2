extension EntityStore {
  /// Shows a change at once, above the base, until it is committed or rolled back.
  ///
  /// ```swift
  /// let layer = store.optimistically { tx in tx.update(Book.self, id: "ACK") { $0.likes += 1 } }
  /// layer.commit()      // or layer.rollBack()
  /// ```
  ///
  /// Other writes while the layer is pending go beneath it, and the closure is then called again on top of them. So the
  /// closure is called several times, on any writing thread, and has to make the same change each time. If it no longer
  /// applies, because it throws or an update in it finds nothing, the layer is dropped and reports that. See
  /// <doc:OptimisticChanges>.
  ///
  /// Stamps do not count in the closure: its writes are always taken, and keep the stored stamps. A layer made in the closure
  /// of another layer is a part of that.
  ///
  /// - Parameter body: a closure that makes the change, through the store that it receives.
  /// - Returns: the layer, which stays pending also if the result is released.
  /// - Throws: what the closure throws when it is called the first time. Then there is no layer.
  /// - Complexity: that of the closure, and the same again for each write on which the layer may depend, as long as it is
  ///   pending. See <doc:OptimisticChanges>.
  @discardableResult
  public func optimistically<Failure: Error>(
    _ body: @escaping @Sendable (EntityStore) throws(Failure) -> Void
  ) throws(Failure) -> OptimisticLayer {
    var thrown: Failure?
    let record = shared.add(LayerRecord(waits: false) { try body(EntityStore($0, token: $1)) }, token) { core, token in
      do throws(Failure) { try body(EntityStore(core, token: token)) } catch {
        thrown = error
        throw error
      }
    }
    if let thrown { throw thrown }
    return OptimisticLayer(record, shared)
  }

  /// Shows a change above the base whose entities may not be stored yet. As long as the closure does not apply, the layer shows
  /// nothing, and the closure is called again with each write to the base. The layer is never dropped.
  @discardableResult
  package func optimisticallyWhenPossible(
    _ body: @escaping @Sendable (EntityStore) throws -> Void
  ) -> OptimisticLayer {
    let apply: LayerRecord.Body = { try body(EntityStore($0, token: $1)) }
    return OptimisticLayer(shared.add(LayerRecord(waits: true, apply), token, apply), shared)
  }

  /// Whether the store has pending layers.
  package var hasLayers: Bool { shared.read(token) { core, _ in core.layers.isActive } }

  /// Lets a closure write to the store at the end of each transaction in which there are layers, once these are shown.
  ///
  /// - Complexity: for each such transaction, what it changed above the base, and of the wanted types what all layers change.
  package func setLayerFollower(_ follower: LayerFollower) {
    shared.inspect(token) { $0.layerFollower = follower }
  }
}
