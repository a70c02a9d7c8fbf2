// `count` is a member of the results, and so an observer of it a member of their observer.
extension EntityObserver {
  /// Returns an observer of the sum of a property of the entities that a query finds.
  ///
  /// ```swift
  /// let subscription = store.query(Note.self).sum(\.minutes).observe { print($0) }
  /// ```
  ///
  /// Nothing overflows in between, of integers of at most 64 bits. An observer tells values and no errors: a sum that the type of the property
  /// cannot represent is the nearest number that it can, its `max` or `min`, until the sum is smaller again. Where sums may become as large, sum a
  /// property of a larger type:
  ///
  /// ```swift
  /// extension Sale { var exactCents: Int128 { Int128(cents) } }
  /// let total = store.query(Sale.self).sum(\.exactCents)
  /// ```
  ///
  /// The property must not use the store.
  ///
  /// - Complexity: of a notice or reading, the number of entities that changed in the results.
  public func sum<Element, Number: FixedWidthInteger & Sendable>(
    _ property: any KeyPath<Element, Number> & Sendable
  ) -> EntityObserver<Number> where Value == EntityResults<Element> {
    following(IntegerSum { Int128(truncatingIfNeeded: $0[keyPath: property]) }).map { Number(clamping: $0) }
  }

  /// Returns an observer of the sum of a property of the entities that a query finds.
  ///
  /// The sum of the numbers as `Double` is exact, rounded to `Double`, and converted to their type: it depends neither on the order of the
  /// entities nor on earlier states. The property must not use the store.
  ///
  /// - Complexity: of a notice or reading, the number of entities that changed in the results.
  public func sum<Element, Number: BinaryFloatingPoint & Sendable>(
    _ property: any KeyPath<Element, Number> & Sendable
  ) -> EntityObserver<Number> where Value == EntityResults<Element> {
    following(FloatingSum { Double($0[keyPath: property]) }, isSame: haveSameBits).map { Number($0) }
  }

  /// Returns an observer of the average of a property of the entities that a query finds; `nil` if it finds none.
  ///
  /// It is the sum, as a `Double`, divided by the number of entities. The property must not use the store.
  ///
  /// - Complexity: of a notice or reading, the number of entities that changed in the results.
  public func average<Element, Number: FixedWidthInteger & Sendable>(
    _ property: any KeyPath<Element, Number> & Sendable
  ) -> EntityObserver<Double?> where Value == EntityResults<Element> {
    following(Mean(IntegerSum { Int128(truncatingIfNeeded: $0[keyPath: property]) }) { Double($0) / Double($1) })
  }

  /// Returns an observer of the average of a property of the entities that a query finds; `nil` if it finds none.
  ///
  /// It is the sum, as a `Double`, divided by the number of entities. The property must not use the store.
  ///
  /// - Complexity: of a notice or reading, the number of entities that changed in the results.
  public func average<Element, Number: BinaryFloatingPoint & Sendable>(
    _ property: any KeyPath<Element, Number> & Sendable
  ) -> EntityObserver<Double?> where Value == EntityResults<Element> {
    following(Mean(FloatingSum { Double($0[keyPath: property]) }) { $0 / Double($1) }, isSame: haveSameBits)
  }

  /// Returns an observer of the least value of a property of the entities that a query finds; `nil` if there is none.
  ///
  /// NaN does not count. The property must not use the store.
  ///
  /// - Complexity: of a notice or reading, the number of entities that changed in the results, times the logarithm of the number of results.
  public func min<Element, Property: Comparable & Sendable>(
    _ property: any KeyPath<Element, Property> & Sendable
  ) -> EntityObserver<Property?> where Value == EntityResults<Element> {
    following(Extremes(isGreatest: false) { $0[keyPath: property] })
  }

  /// Returns an observer of the least value of a property; entities in which it is `nil` do not count. The property must not use the store.
  public func min<Element, Property: Comparable & Sendable>(
    _ property: any KeyPath<Element, Property?> & Sendable
  ) -> EntityObserver<Property?> where Value == EntityResults<Element> {
    following(Extremes(isGreatest: false) { $0[keyPath: property] })
  }

  /// Returns an observer of the greatest value of a property of the entities that a query finds; `nil` if there is none.
  ///
  /// NaN does not count. The property must not use the store.
  ///
  /// - Complexity: of a notice or reading, the number of entities that changed in the results, times the logarithm of the number of results.
  public func max<Element, Property: Comparable & Sendable>(
    _ property: any KeyPath<Element, Property> & Sendable
  ) -> EntityObserver<Property?> where Value == EntityResults<Element> {
    following(Extremes(isGreatest: true) { $0[keyPath: property] })
  }

  /// Returns an observer of the greatest value of a property; entities in which it is `nil` do not count. The property must not use the store.
  public func max<Element, Property: Comparable & Sendable>(
    _ property: any KeyPath<Element, Property?> & Sendable
  ) -> EntityObserver<Property?> where Value == EntityResults<Element> {
    following(Extremes(isGreatest: true) { $0[keyPath: property] })
  }
}
