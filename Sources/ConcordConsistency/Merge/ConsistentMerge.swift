/// One walk through a value, which puts what an index holds in place of what the value holds.
///
/// Generated conformances and containers of your own hand each of their parts to `updated(_:)`.
public final class ConsistentMerge {
  @usableFromInline let index: ConsistentIndex
  /// Set while the winners of an index are merged with each other: the cycle that the current winner belongs to.
  var cycle: Cycle?
  /// What the walk is for.
  private let purpose: Purpose
  /// What a walk that only looks has found so far.
  private(set) var finding = Finding.untouched
  /// What a walk that only looks found to be a change.
  private(set) var changed: (any ConsistentObject)?
  /// Whether anything is removed.
  @usableFromInline let removes: Bool
  /// Set by what goes, until the nearest that can do without it has taken note.
  @usableFromInline var isGone = false
  /// Whether a walk that only looks has found a change, and may end.
  @usableFromInline private(set) var isOver = false
  private var walkers = ValueWalkers()
  /// How many objects, one in the other, are being walked.
  @usableFromInline var depth = 0
  private var allPlans: [MergePlan] = []
  /// A pointer, since this is looked at for every object that is walked.
  @usableFromInline let plans = UnsafeMutablePointer<PlanSlot>.allocate(capacity: planSlotCount)
  /// Class instances that were walked, with what became of them: nothing, while that is going on.
  private var instances: [ObjectIdentifier: Fate<any ConsistentObject>] = [:]
  /// The last state of each deep object that was walked, with what became of it.
  private var walked: [ObjectKey: (object: any ConsistentObject, fate: Fate<any ConsistentObject>)] = [:]

  /// What a merge is for.
  enum Purpose: Equatable {
    /// To replace what the index has newer states of.
    case merging
    /// To put the winners of the index into each other.
    case resolving
    /// To see whether merging would change anything; or only the first thing that it would find.
    case looking(untilTouched: Bool)
  }

  /// What looking has found, the least first.
  enum Finding: Int {
    /// Nothing of what the merge brings.
    case untouched
    /// Some of it, in the state in which it is brought.
    case unchanged
    /// Some of it, in another state.
    case changed
  }

  init(_ index: ConsistentIndex, for purpose: Purpose = .merging) {
    self.index = index
    self.purpose = purpose
    removes = index.removes
    plans.initialize(repeating: PlanSlot(type: nil, plan: nil), count: planSlotCount)
  }

  /// A merge of what `object` brings.
  @usableFromInline
  convenience init(of object: any ConsistentObject) {
    Telling.current?.noteMerge(with: object)
    self.init(ConsistentIndex.of(object))
  }

  deinit {
    plans.deinitialize(count: planSlotCount)
    plans.deallocate()
  }

  /// `value` after this merge, or `nil` if it changes nothing in it.
  ///
  /// If `value` goes with what was removed, so does what holds it: an optional, an array, a set, a dictionary and an object
  /// written by hand whose property takes `nil` can do without. A container of your own asks for ``fate(of:)``.
  @inlinable
  public func updated<Value: ConsistentValue>(_ value: Value) -> Value? {
    value.merged(by: self)
  }

  /// `objects` after this merge, or `nil` if it changes none of them.
  @inlinable
  public func updated<Object: StaticallyConsistent>(_ objects: [Object]) -> [Object]? {
    Object.merged(all: objects, by: self)
  }

  /// `value` after this merge, or `nil`: a value of which nothing is known changes only if its type leaves open what
  /// it holds, such as `any Model`.
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

  /// The position in the index of the object that has the identity of `object`, if the merge brings it.
  @usableFromInline
  func position(of object: some ConsistentObject) -> Int? {
    index.table(for: type(of: object))?.position(of: object)
  }

  /// Whether the merge brings objects of this type.
  @usableFromInline
  func brings(_ type: any Any.Type) -> Bool {
    index.table(for: type) != nil
  }

  /// What the merge brings for `object`, which stands at `position` of the index; `nil` if that is no change.
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

  /// Notes that what is being walked goes.
  func goes() { isGone = true }

  /// Walks a class instance only once, though it is met again, perhaps from within itself; and a value that lies deep,
  /// or a diamond would be walked on each of its paths. (Near the surface there are few, and walking is cheaper.)
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

  /// Calls `body` with what there is to do for objects of a static type.
  @inlinable
  func withPlan<Object: StaticallyConsistent, Result>(
    for type: Object.Type, _ body: (StaticMergePlan<Object>) -> Result
  ) -> Result {
    let key = ObjectIdentifier(type)
    let slot = plans + slotIndex(of: key)
    if slot.pointee.type != key { keep(StaticMergePlan<Object>(index), for: key, in: slot) }
    guard let plan = slot.pointee.plan else { return body(StaticMergePlan<Object>(index)) }
    // Unmanaged, which saves counting references for each object. The plan is of this class, since a slot of this type
    // is filled nowhere else; it lives on even if `body` fills the slot anew, because the merge keeps all plans.
    return plan._withUnsafeGuaranteedRef { body(unsafeDowncast($0, to: StaticMergePlan<Object>.self)) }
  }

  @usableFromInline
  func keep(_ plan: MergePlan, for type: ObjectIdentifier, in slot: UnsafeMutablePointer<PlanSlot>) {
    allPlans.append(plan)
    slot.pointee = PlanSlot(type: type, plan: .passUnretained(plan))
  }

  /// Whether anything in a value of this type can change. Asked once for a collection, it saves going through it.
  public func concerns<Value: ConsistentValue>(_ type: Value.Type) -> Bool {
    ConsistentTypes.of(type).mayContain(anyOf: index.types)
  }
}

/// Where a merge finds the plan for a type.
@usableFromInline
struct PlanSlot {
  @usableFromInline var type: ObjectIdentifier?
  @usableFromInline var plan: Unmanaged<MergePlan>?
}

/// The slot for a type: types are at least 8 bytes apart. Two types with the same one push each other out.
@inlinable
func slotIndex(of type: ObjectIdentifier) -> Int {
  Int(bitPattern: UInt(bitPattern: type) >> 4 ^ UInt(bitPattern: type) >> 9) & (planSlotCount - 1)
}

@usableFromInline let planSlotCount = 32

/// Whether nothing can be in a value of static type `type`. Decided when it is specialised, so that it costs nothing.
@inlinable
@inline(__always)
func isPlain<Value>(_ type: Value.Type) -> Bool {
  _isPOD(type) || type == String.self || type == String?.self
}

/// Whether values of the type are instances of a class. For types of another size this costs nothing.
@inlinable
@inline(__always)
func isClass<Value>(_ type: Value.Type) -> Bool {
  MemoryLayout<Value>.size == MemoryLayout<AnyObject>.size && !_isPOD(type) && type is any AnyObject.Type
}
