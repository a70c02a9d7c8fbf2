/// One walk through a value, which puts what an index holds in place of what the value holds.
///
/// Generated conformances and containers of your own hand each of their parts to `updated(_:)`.
public final class ConsistentMerge {
  let index: ConsistentIndex
  /// Set while the winners of an index are merged with each other: the cycle that the current winner belongs to.
  var cycle: Cycle?
  private let isResolving: Bool
  var kinds = ValueKinds()
  private var plans: [MergePlan] = []
  /// Class instances that were walked, with what became of them; `nil` while that is going on, or if they stay.
  private var instances: [ObjectIdentifier: (any ConsistentObject)?] = [:]

  init(_ index: ConsistentIndex, isResolving: Bool = false) {
    self.index = index
    self.isResolving = isResolving
  }

  /// `value` after this merge, or `nil` if it changes nothing in it.
  @inlinable
  public func updated<Value: ConsistentValue>(_ value: Value) -> Value? {
    value.merged(by: self)
  }

  /// `value` after this merge, or `nil`: a value of which nothing is known changes only if its type leaves open what
  /// it holds, such as `any Model`.
  @inlinable
  public func updated<Value>(_ value: Value) -> Value? {
    // Both are decided when this is specialised, so that plain fields cost nothing.
    if _isPOD(Value.self) || Value.self == String.self || Value.self == String?.self { return nil }
    return updated(dynamic: value) as? Value
  }

  @usableFromInline
  func updated(dynamic value: Any) -> Any? {
    switch kinds[type(of: value)] {
    case .leaf: nil
    case .consistent(let type): updated(value, as: type)
    case .container: (value as? any DynamicContainer)?.mergedElements(by: self)
    }
  }

  private func updated<Value: ConsistentValue>(_ value: Any, as type: Value.Type) -> Any? {
    // Flattened: an optional in an optional would be taken for a value.
    guard let value = value as? Value, let newer = value.merged(by: self) else { return nil }
    return newer
  }

  // MARK: Objects

  /// What the merge brings for `object`, which stands at `position` of the index; `nil` if that is no change.
  @usableFromInline
  func newer<Object: ConsistentObject>(at position: Int, of object: Object) -> Object? {
    if isResolving {
      if let cycle, cycle.contains(position) { return keepingShape(of: object, at: position) }
      if index.occurrences[position] == 1, !index.isResolved[position] { return nil }
    }
    let winner = index.winners[position]
    if Object.self is any AnyObject.Type, winner as AnyObject === object as AnyObject { return nil }
    return winner as? Object
  }

  /// An object whose type is known only at run time.
  @usableFromInline
  func merged<Object: ConsistentObject>(object: Object) -> Object? {
    if let table = index.tables[ObjectIdentifier(type(of: object))], let position = table.position(of: object) {
      return newer(at: position, of: object)
    }
    return mergedParts(of: object)
  }

  /// The object with its parts merged.
  func mergedParts<Object: ConsistentObject>(of object: Object) -> Object? {
    once(object) {
      if let object = object as? any StaticallyConsistent { return object.mergingConsistentParts(self) as? Object }
      return setting(object, object.properties, { $0.properties }, { $0.setting(property: $1) })
    }
  }

  /// Walks a class instance only once, though it is met again, perhaps from within itself.
  func once<Object: ConsistentObject>(_ object: Object, _ walk: () -> Object?) -> Object? {
    guard Object.self is any AnyObject.Type else { return walk() }
    let key = ObjectIdentifier(object as AnyObject)
    if let known = instances[key] { return known as? Object }
    instances[key] = .some(nil)
    let newer = walk()
    instances[key] = .some(newer)
    return newer
  }

  // MARK: Plans

  /// What there is to do for values of a static type.
  @usableFromInline
  func plan<Value: ConsistentValue>(for type: Value.Type) -> MergePlan {
    let key = ObjectIdentifier(type)
    for plan in plans where plan.type == key { return plan }
    let plan = MergePlan.make(for: type, index)
    plans.append(plan)
    return plan
  }

  @usableFromInline
  func staticPlan<Object: StaticallyConsistent>(for type: Object.Type) -> StaticMergePlan<Object> {
    let key = ObjectIdentifier(type)
    for case let plan as StaticMergePlan<Object> in plans where plan.type == key { return plan }
    let plan = StaticMergePlan<Object>(index)
    plans.append(plan)
    return plan
  }

  /// Whether anything in a value of this type can change. Asked once for a collection, it saves going through it.
  @inlinable
  public func concerns<Value: ConsistentValue>(_ type: Value.Type) -> Bool {
    plan(for: type).isConcerned
  }
}
