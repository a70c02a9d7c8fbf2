extension EntityObserver {
  /// Returns an observer of the result of a function of the value.
  ///
  /// ```swift
  /// let count = observer.map { author in author.books.count }
  /// let subscription = count.observe { print($0) }
  /// ```
  ///
  /// Observers are called when the result differs from the previous one, by `==` if the type has it. The returned observer retains the
  /// entity, as this one does.
  ///
  /// - Parameter transform: the function. It is called where observers are, and wherever the value is read; it may use the store.
  /// - Complexity: constant, plus one call of the function for each notice or reading.
  public func map<Derived: Sendable>(_ transform: @escaping @Sendable (Value) -> Derived) -> EntityObserver<Derived> {
    source.shared.read(0) { core, _ in EntityObserver<Derived>(DerivedSource(source, core, transform)) }
  }

  /// Returns an observer of the result of a function of the value, which is called when `isSame` does not hold.
  package func map<Derived: Sendable>(
    isSame: @escaping @Sendable (Derived, Derived) -> Bool, _ transform: @escaping @Sendable (Value) -> Derived
  ) -> EntityObserver<Derived> {
    source.shared.read(0) { core, _ in EntityObserver<Derived>(DerivedSource(source, core, isSame: isSame, transform)) }
  }

  /// An observer of the value in another form. The result of ``unconverted(_:)`` is this one then.
  package func converted<Derived: Sendable>(
    _ transform: @escaping @Sendable (Value) -> Derived
  ) -> EntityObserver<Derived> {
    source.shared.read(0) { core, _ in
      EntityObserver<Derived>(DerivedSource(source, core, isConversion: true, transform))
    }
  }

  /// The observer of the value in the form in which the store has it, if this one was made of that with ``converted(_:)``.
  package func unconverted<Base: Sendable>(_ type: Base.Type) -> EntityObserver<Base>? {
    guard let source = source as? DerivedSource<Base, Value>, source.isConversion else { return nil }
    return EntityObserver<Base>(source.base)
  }
}

extension EntityObserver: Identifiable where Value: Identifiable {
  /// The id of the entity.
  public var id: Value.ID { value.id }
}

/// Two observers are equal if they observe the same entity of the same store. Other observers (of an alias, a collection, a
/// part) are equal only if they are copies of one.
extension EntityObserver: Hashable {
  public static func == (a: Self, b: Self) -> Bool { a.source.identity == b.source.identity }

  public func hash(into hasher: inout Hasher) { hasher.combine(source.identity) }
}

extension EntityObserver {
  /// An observer of a part of the value.
  ///
  /// ```swift
  /// let subscription = book.author.name.observe { name in print(name) }
  /// ```
  ///
  /// The members of `EntityObserver` (`value`, `values`, `observed`, `id` …) are preferred to properties of the same name,
  /// which `map` reaches.
  ///
  /// - Complexity: constant.
  public subscript<Part: Sendable>(
    dynamicMember part: any KeyPath<Value, Part> & Sendable
  ) -> EntityObserver<Part> { map { $0[keyPath: part] } }
}
