/// One walk through a value, which replaces the objects in it by their states in an index.
///
/// Generated conformances and containers of your own pass each of their parts to `updated(_:)`.
public final class ConsistentMerge {
  @usableFromInline let index: ConsistentIndex
  /// The cycle of the current winner, while the winners of an index are merged with each other.
  var cycle: Cycle?
  /// The purpose of the walk.
  private let purpose: Purpose
  /// The finding so far of a walk that only looks.
  private(set) var finding = Finding.untouched
  /// The change that a walk which only looks has found.
  private(set) var changed: (any ConsistentObject)?
  /// Whether any object is removed.
  @usableFromInline let removes: Bool
  /// Whether the walked value is removed. Set until the nearest parent that does not require it has handled it.
  @usableFromInline var isGone = false
  /// Whether a walk that only looks has found a change, and may end.
  @usableFromInline private(set) var isOver = false
  private var walkers = ValueWalkers()
  /// The number of nested objects that are being walked.
  @usableFromInline var depth = 0
  private var allPlans: [MergePlan] = []
  /// The plans by type. A pointer, since it is read for every walked object.
  @usableFromInline let plans = UnsafeMutablePointer<PlanSlot>.allocate(capacity: planSlotCount)
  /// The class instances that were walked, with their fates: unchanged while the walk is going on.
  private var instances: [ObjectIdentifier: Fate<any ConsistentObject>] = [:]
  /// The last state of each deep object that was walked, with its fate.
  private var walked: [ObjectKey: (object: any ConsistentObject, fate: Fate<any ConsistentObject>)] = [:]

  /// The purposes of a merge.
  enum Purpose: Equatable {
    /// Replacing objects by their states in the index.
    case merging
    /// Merging the winners of the index with each other.
    case resolving
    /// Finding out whether merging would change anything, or only what it would find first.
    case looking(untilTouched: Bool)
  }

  /// The findings of a walk that only looks, the least first.
  enum Finding: Int {
    /// None of the objects that the merge brings.
    case untouched
    /// Some of the objects, in the states that the merge brings.
    case unchanged
    /// Some of the objects, in other states.
    case changed
  }

  init(_ index: ConsistentIndex, for purpose: Purpose = .merging) {
    self.index = index
    self.purpose = purpose
    removes = index.removes
    plans.initialize(repeating: PlanSlot(type: nil, plan: nil), count: planSlotCount)
  }

  /// Creates a merge of the objects in `object`.
  @usableFromInline
  convenience init(of object: any ConsistentObject) {
    Telling.current?.noteMerge(with: object)
    self.init(ConsistentIndex.of(object))
  }

  deinit {
    plans.deinitialize(count: planSlotCount)
    plans.deallocate()
  }

  /// Returns a value after this merge; `nil` if the merge changes nothing in it.
  ///
  /// If `value` is removed, so is its parent, except for an optional, an array, a set, a dictionary, and an object written by
  /// hand whose property accepts `nil`. A container of your own that does not require the value uses ``fate(of:)``.
  @inlinable
  public func updated<Value: ConsistentValue>(_ value: Value) -> Value? {
    value.merged(by: self)
  }

  /// Returns objects after this merge; `nil` if the merge changes none of them.
  @inlinable
  public func updated<Object: StaticallyConsistent>(_ objects: [Object]) -> [Object]? {
    Object.merged(all: objects, by: self)
  }

  /// Returns a value of any type after this merge; `nil` if the merge changes nothing in it. Only values of types whose
  /// contents are not known at compile time, such as `any Model`, can change.
  @inlinable
  public func updated<Value>(_ value: Value) -> Value? {
    if isPlain(Value.self) { return nil }
    return updated(dynamic: value) as? Value
  }

  @usableFromInline
  func updated(dynamic value: Any) -> Any? {
    if isOver { return nil }
    return walkers[type(of: value)]?.updated(value, by: self)
  }

  // MARK: Objects

  /// Returns the position in the index of the object with the identity of `object`, if the merge brings it.
  @usableFromInline
  func position(of object: some ConsistentObject) -> Int? {
    index.table(for: type(of: object))?.position(of: object)
  }

  /// Whether the merge brings objects of this type.
  @usableFromInline
  func brings(_ type: any Any.Type) -> Bool {
    index.table(for: type) != nil
  }

  /// Returns the state that the merge brings for `object`, which is at `position` of the index; `nil` if that is no change.
  @usableFromInline
  func newer<Object: ConsistentObject>(at position: Int, of object: Object) -> Object? {
    if removes, index.isRemoved[position] { return found(removed: object) }
    if purpose == .resolving {
      if let cycle, cycle.contains(position) { return keepingShape(of: object, at: position) }
      if index.occurrences[position] == 1, !index.isResolved[position] { return nil }
    }
    let winner = index.winners[position]
    if case .looking(let untilTouched) = purpose {
      if finding == .untouched { finding = .unchanged }
      if untilTouched { isOver = true }
      if !SameState.isCertain(of: object, winner) {
        finding = .changed
        changed = winner
        isOver = true
      }
      return nil
    }
    if isClass(Object.self), winner as AnyObject === object as AnyObject { return nil }
    return winner as? Object
  }

  private func found<Object: ConsistentObject>(removed object: Object) -> Object? {
    if case .looking = purpose {
      finding = .changed
      changed = object
      isOver = true
    } else {
      goes()
    }
    return nil
  }

  /// Notes that the walked value is removed.
  func goes() { isGone = true }

  /// Walks a class instance only once, although it may occur again, also within itself, and a deep value, since a diamond
  /// would be walked on each of its paths. (Values near the surface are few, and cheaper to walk than to remember.)
  @inlinable
  func once<Object: ConsistentObject>(_ object: Object, _ walk: () -> Object?) -> Object? {
    if isClass(Object.self) { return onceForInstance(object, walk) }
    return depth < 4 ? walk() : onceForValue(object, walk)
  }

  @usableFromInline
  func onceForValue<Object: ConsistentObject>(_ object: Object, _ walk: () -> Object?) -> Object? {
    let key = ObjectKey(object)
    if let known = walked[key], SameState.isCertain(of: object, known.object, budget: 16) {
      return come(to: known.fate)
    }
    let fate = withFate { walk().map { $0 as any ConsistentObject } }
    walked[key] = (object, fate)
    return come(to: fate)
  }

  @usableFromInline
  func onceForInstance<Object: ConsistentObject>(_ object: Object, _ walk: () -> Object?) -> Object? {
    let key = ObjectIdentifier(object as AnyObject)
    if let known = instances[key] { return come(to: known) }
    instances[key] = .stays
    let fate = withFate { walk().map { $0 as any ConsistentObject } }
    instances[key] = fate
    return come(to: fate)
  }

  private func come<Object>(to fate: Fate<any ConsistentObject>) -> Object? {
    switch fate {
    case .stays: return nil
    case .changes(let newer): return newer as? Object
    case .goes:
      goes()
      return nil
    }
  }

  // MARK: Plans

  /// Calls a closure with the plan for objects of a static type.
  @inlinable
  func withPlan<Object: StaticallyConsistent, Result>(
    for type: Object.Type, _ body: (StaticMergePlan<Object>) -> Result
  ) -> Result {
    let key = ObjectIdentifier(type)
    let slot = plans + slotIndex(of: key)
    if slot.pointee.type != key { keep(StaticMergePlan<Object>(index), for: key, in: slot) }
    guard let plan = slot.pointee.plan else { return body(StaticMergePlan<Object>(index)) }
    // Unmanaged, which avoids counting references for each object. The plan has this class, since a slot of this type is
    // filled nowhere else; it exists even if `body` refills the slot, because the merge retains all plans.
    return plan._withUnsafeGuaranteedRef { body(unsafeDowncast($0, to: StaticMergePlan<Object>.self)) }
  }

  @usableFromInline
  func keep(_ plan: MergePlan, for type: ObjectIdentifier, in slot: UnsafeMutablePointer<PlanSlot>) {
    allPlans.append(plan)
    slot.pointee = PlanSlot(type: type, plan: .passUnretained(plan))
  }

  /// Whether the merge can change anything in values of a type. Checked once for a collection, it may save walking through it.
  public func concerns<Value: ConsistentValue>(_ type: Value.Type) -> Bool {
    ConsistentTypes.of(type).mayContain(anyOf: index.types)
  }
}

/// A slot with the plan for a type.
@usableFromInline
struct PlanSlot {
  @usableFromInline var type: ObjectIdentifier?
  @usableFromInline var plan: Unmanaged<MergePlan>?
}

/// Returns the index of the slot for a type: types are at least 8 bytes apart. Two types with the same slot replace each other.
@inlinable
func slotIndex(of type: ObjectIdentifier) -> Int {
  Int(bitPattern: UInt(bitPattern: type) >> 4 ^ UInt(bitPattern: type) >> 9) & (planSlotCount - 1)
}

@usableFromInline let planSlotCount = 32

/// Whether values of a static type contain nothing. Decided at compile time where it is specialised.
@inlinable
@inline(__always)
func isPlain<Value>(_ type: Value.Type) -> Bool {
  _isPOD(type) || type == String.self || type == String?.self
}

/// Whether values of a type are class instances. For types of another size than a reference this costs nothing.
@inlinable
@inline(__always)
func isClass<Value>(_ type: Value.Type) -> Bool {
  MemoryLayout<Value>.size == MemoryLayout<AnyObject>.size && !_isPOD(type) && type is any AnyObject.Type
}
