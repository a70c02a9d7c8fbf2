extension EntityObserver {
  /// Returns an observer of the pairs of entities of two types that have equal properties.
  ///
  /// ```swift
  /// let orders = store.query(Order.self).joined(with: Customer.self) { $0.customer == $1.id }
  /// for pair in orders.value { print(pair.left.number, pair.right.name) }
  /// ```
  ///
  /// Several equalities are joined by `&&`. A property that is `nil` equals nothing. The pairs are of one state of the store. The properties
  /// must not use the store.
  ///
  /// - Parameters:
  ///   - type: the type of the entities on the right.
  ///   - condition: a closure that receives the properties of both sides and returns the condition. It is called once,
  ///     on the calling thread.
  /// - Complexity: of a notice or reading, the number of entities that changed and of pairs that came or went, times the logarithm of the
  ///   number of pairs.
  public func joined<Left, Right: Identifiable & Sendable>(
    with type: Right.Type, on condition: (JoinSide<Left>, JoinSide<Right>) -> JoinCondition<Left, Right>
  ) -> EntityObserver<EntityPairs<Left, Right>> where Value == EntityResults<Left> {
    joined(with: EntityStore(source.shared, token: 0).query(type), on: condition)
  }

  /// Returns an observer of the pairs of entities in the results of two queries of one store that have equal properties.
  ///
  /// - Parameters:
  ///   - other: the results on the right, of a query of the same store.
  ///   - condition: a closure that receives the properties of both sides and returns the condition. It is called once,
  ///     on the calling thread.
  /// - Complexity: as with a type.
  public func joined<Left, Right>(
    with other: EntityObserver<EntityResults<Right>>,
    on condition: (JoinSide<Left>, JoinSide<Right>) -> JoinCondition<Left, Right>
  ) -> EntityObserver<EntityPairs<Left, Right>> where Value == EntityResults<Left> {
    let join = Join(condition(JoinSide(), JoinSide()))
    return EntityStore(source.shared, token: 0).combined(
      self, other, isSame: { $0.isSame(as: $1) }, by: { join.pairs(of: $0, $1) })
  }
}
