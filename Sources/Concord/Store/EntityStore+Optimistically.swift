extension EntityStore {
  /// Shows a change at once, above the base, until it is committed or rolled back.
  ///
  /// ```swift
  /// let layer = store.optimistically { tx in tx.update(Book.self, id: "ACK") { $0.likes += 1 } }
  /// layer.commit()      // or layer.rollBack()
  /// ```
  ///
  /// What is written otherwise while the layer is pending goes under it, and the closure is called again on top of that. So it is
  /// called several times, on any thread that writes, and has to make the same change each time. If it does not apply any longer,
  /// because it throws or an update in it finds nothing, the layer is dropped and tells so. See <doc:OptimisticChanges>.
  ///
  /// In the closure stamps do not count: its writes are taken, and leave the stored stamps alone. A layer made in the closure of
  /// another one is a part of that.
  ///
  /// - Parameter body: makes the change, through the store that it is handed.
  /// - Returns: the layer, which stays also if this is dropped.
  /// - Throws: what the closure throws when it is called the first time. Then there is no layer.
  /// - Complexity: that of the closure. Each write to the base on which it may depend costs, as long as the layer is pending, the same once
  ///   more. See <doc:OptimisticChanges>.
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

  /// The same for a change whose entities may not be here yet: as long as the closure does not apply, it is left out of what is
  /// shown, and tried again with each write to the base. It is never dropped.
  @discardableResult
  package func optimisticallyWhenPossible(
    _ body: @escaping @Sendable (EntityStore) throws -> Void
  ) -> OptimisticLayer {
    let apply: LayerRecord.Body = { try body(EntityStore($0, token: $1)) }
    return OptimisticLayer(shared.add(LayerRecord(waits: true, apply), token, apply), shared)
  }

  /// Whether something is shown above the base.
  package var hasLayers: Bool { shared.read(token) { core, _ in core.layers.isActive } }
}
