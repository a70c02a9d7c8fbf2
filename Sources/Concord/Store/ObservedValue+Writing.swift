extension ObservedValue where Value: Identifiable {
  /// A part of the entity, which can be written by an `update` of the store, without a stamp. If that is not taken, because
  /// the entity was removed or its stamp is ahead of the clock, the logger is told.
  public subscript<Part>(dynamicMember part: WritableKeyPath<Value, Part>) -> Part {
    get { value[keyPath: part] }
    set {
      EntityStore(source.shared, token: 0).update(Value.self, id: source.value.id) { $0[keyPath: part] = newValue }
    }
  }

  /// The current value. A new one replaces all of the stored value, by an `update` of the store, so write a part where a part
  /// is meant. A value with another id is refused.
  public var value: Value {
    get { access() }
    set { EntityStore(source.shared, token: 0).update(Value.self, id: source.value.id) { $0 = newValue } }
  }
}
