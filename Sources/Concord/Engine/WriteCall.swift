/// One call that writes: a value and all the entities inside it, at every depth.
///
/// The entities are met breadth first, level by level. Of several values of one entity the outermost wins, among equals the
/// last: so when a level has been met whole, its winners are known and are decided upon, and then the entities inside its
/// values, winners or not, are met. Nothing recurses, and equal values met again on one level are met once.
@usableFromInline final class WriteCall: Walker {
  @usableFromInline enum Mode {
    /// Every occurrence counts.
    case store
    /// Only occurrences that differ from what a closure was given count.
    case update
  }

  /// A value of an entity, met in the call.
  @usableFromInline struct Item {
    @usableFromInline let reference: NodeRef
    /// Where the table has the value; -1 if the node itself holds it, because it was new to the store.
    @usableFromInline var staged: Int32
    /// Where the table has the value that the closure was given in this place; -1 if there was none.
    @usableFromInline var given: Int32 = -1
    /// Where it was met, if the parent's value is the one being walked.
    @usableFromInline var parent: NodeRef?
    @usableFromInline var ordinal: Int32
    /// An equal value that comes later on the level stands for this one; -1 if none does.
    @usableFromInline var replacement: Int32 = -1
    /// The last of the entity's values that lost, if this one won; -1 if there is none.
    @usableFromInline var loser: Int32 = -1
    /// Where the table has the value that was overwritten; -1 if it is not needed.
    @usableFromInline var previous: Int32 = -1
    /// The entity was new to the store when the call began.
    @usableFromInline var isNew = false
    /// The value won and was taken: the occurrences inside it are the entity's now.
    @usableFromInline var isTaken = false
    /// The node has the value now, and the table the one that was overwritten.
    @usableFromInline var isAdopted = false
    /// The value was taken, but equals the one there is, which is kept.
    @usableFromInline var keepsValue = false
    /// Entities of this type can contain others.
    @usableFromInline var hasInside = true
    /// What was given stood elsewhere: only what had been left out there is taken from it.
    @usableFromInline var isMoved = false
    /// The relations (a bit each) that were left out, and came back from what is stored.
    @usableFromInline var restored: UInt64 = 0
    /// Where the table has the value as it was before they came back; -1 if none did.
    @usableFromInline var unrestored: Int32 = -1

    @inlinable @inline(__always) var node: Node { reference.node }

    /// The parent shows what the node has held since it was met, and nothing inside can be old.
    @inlinable @inline(__always) var isSettled: Bool { isUncontested && !hasInside && replacement < 0 }

    /// The node has held this value since it was met: no other was.
    @inlinable @inline(__always) var isUncontested: Bool { isNew && staged < 0 }

    @inlinable init(
      reference: NodeRef, staged: Int32, given: Int32 = -1, parent: NodeRef?, ordinal: Int32, isNew: Bool = false,
      hasInside: Bool
    ) {
      self.reference = reference
      self.staged = staged
      self.given = given
      self.parent = parent
      self.ordinal = ordinal
      self.isNew = isNew
      self.hasInside = hasInside
    }
  }

  /// A written value that may, after all, be the one there was.
  @usableFromInline struct Rewrite {
    @usableFromInline let node: Node
    @usableFromInline let previous: Int32
    @usableFromInline let isRestructured: Bool

    @inlinable init(node: Node, previous: Int32, isRestructured: Bool) {
      self.node = node
      self.previous = previous
      self.isRestructured = isRestructured
    }
  }

  @exclusivity(unchecked) @usableFromInline var mode = Mode.store
  @exclusivity(unchecked) @usableFromInline var serial: UInt32 = 0
  /// The stamp given to all that is written; `nil` if unstamped writes win and leave it alone.
  @exclusivity(unchecked) @usableFromInline var stamp: Stamp?
  @exclusivity(unchecked) @usableFromInline var items: ContiguousArray<Item> = []
  /// Where the level begins that is being met.
  @exclusivity(unchecked) @usableFromInline var levelStart = 0
  @exclusivity(unchecked) @usableFromInline var rewrites: ContiguousArray<Rewrite> = []
  @exclusivity(unchecked) @usableFromInline var usedTables: ContiguousArray<Unmanaged<AnyTable>> = []
  /// Given values are compared place by place, because cycles or other writes make them differ from the stored ones.
  @exclusivity(unchecked) @usableFromInline var usesGiven = false { didSet { wantsKeys = usesGiven } }
  /// Where the items begin that are not only what a closure changed.
  @exclusivity(unchecked) @usableFromInline var storingStart = 0
  /// All that the closure was given, by entity, if given values are compared.
  @exclusivity(unchecked) @usableFromInline var givenValues: [ObjectIdentifier: [Int32]] = [:]
  /// Those among them that were in a cycle or above one, before the call changed any of that.
  @exclusivity(unchecked) @usableFromInline var rootedGivens: Set<ObjectIdentifier> = []
  /// Where the closure was given an entity without relations that were left out, they come back.
  @exclusivity(unchecked) @usableFromInline var restoresLeftOut = false
  /// The closure left all relations of the target as they were. Asked once only: the copies of a value may have different bits.
  @exclusivity(unchecked) @usableFromInline var keepsRelations = false
  /// The entity an update is about, which has its stamp already.
  @exclusivity(unchecked) @usableFromInline unowned(unsafe) var target: Node?

  // The value being walked.
  @exclusivity(unchecked) @usableFromInline var nodes: ContiguousArray<NodeRef> = []
  @exclusivity(unchecked) @usableFromInline var ends: ContiguousArray<Int32> = []
  /// Occurrences that are not met as items and show something old.
  @exclusivity(unchecked) @usableFromInline var old: ContiguousArray<Int32> = []
  @exclusivity(unchecked) @usableFromInline var parent: NodeRef?
  @exclusivity(unchecked) @usableFromInline var givens: ContiguousArray<Given> = []
  /// Where the relation begins that `givens` are of.
  @exclusivity(unchecked) @usableFromInline var relationStart: Int32 = 0
  @exclusivity(unchecked) @usableFromInline var givenOrder = PlaceOrder.elements

  @usableFromInline init(engine: Engine) { super.init(engine: engine, kind: .write) }

  @usableFromInline func begin(_ mode: Mode, stamp: Stamp?, serial: UInt32) {
    self.mode = mode
    self.serial = serial
    self.stamp = stamp ?? (engine.stamping == .clock ? engine.tick() : nil)
  }

  /// The closure's own changes are in; now all of the value, as far as it is not decided yet.
  @usableFromInline func continueStoring() {
    mode = .store
    usesGiven = false
    levelStart = items.count
    storingStart = items.count
  }

  @usableFromInline func end() {
    for table in usedTables { table._withUnsafeGuaranteedRef { $0.endCall() } }
    usedTables.removeAll(keepingCapacity: true)
    items.removeAll(keepingCapacity: items.count < 1024)
    levelStart = 0
    storingStart = 0
    usesGiven = false
    if !givenValues.isEmpty {
      givenValues.removeAll()
      rootedGivens.removeAll()
    }
    target = nil
    restoresLeftOut = false
    keepsRelations = false
  }

  // MARK: Judging

  @usableFromInline func accepts(_ node: Node) -> Bool {
    guard let stamp else { return true }
    return stamp > node.stamp
  }

  // MARK: Levels

  /// Decides upon all that was met, and meets what is inside, until there is no more.
  @usableFromInline func run() {
    while levelStart < items.count {
      let level = levelStart..<items.count
      levelStart = items.count
      for i in level where isWinner(i) && items[i].replacement < 0 {
        if items[i].isUncontested {
          items[i].isTaken = true
        } else {
          items[i].reference.with { $0.apply(&items[i], in: self) }
        }
      }
      for i in level where items[i].hasInside && items[i].replacement < 0 {
        items[i].reference.with { $0.walk(items[i], in: self) }
      }
    }
  }

  @usableFromInline func isWinner(_ index: Int) -> Bool {
    items[index].reference.with { $0.callSerial == serial && $0.callItem == Int32(truncatingIfNeeded: index) }
  }

  /// Finds out which occurrences show something old, and which entities really changed.
  @usableFromInline func settle() {
    // What is inside comes later than what it is in, so from the end on.
    for i in items.indices.reversed() where !items[i].isSettled { items[i].parent?.with { settle(i, in: $0) } }
    for rewrite in rewrites.reversed() {
      let node = rewrite.node
      if !rewrite.isRestructured, rewrite.previous >= 0 {
        engine.refresh(node)
        if node.isUnchanged(since: rewrite.previous) { continue }
      }
      engine.changed(node)
    }
    rewrites.removeAll(keepingCapacity: rewrites.count < 1024)
  }

  private func settle(_ index: Int, in parent: Node) {
    guard let children = parent.children else { return }
    if children.adopted != serial {
      // Renewed meanwhile, perhaps with what was not decided yet, or in another order.
      for ordinal in children.edges.indices { engine.showsOld(parent, Int32(truncatingIfNeeded: ordinal)) }
    } else if showsPresentValue(index) {
      children.dirty.remove(items[index].ordinal)
      // The next change is to come up to this parent, too.
      items[index].reference.with { _ = $0.flags.remove(.marked) }
    } else {
      engine.showsOld(parent, items[index].ordinal)
    }
  }

  /// Whether the value met, as it stands in the parent, is the node's.
  @usableFromInline func showsPresentValue(_ index: Int) -> Bool {
    let winner = items[index].reference.with { node -> Int? in
      guard !node.flags.contains(.rooted), node.callSerial == serial else { return nil }
      if let children = node.children, !children.dirty.isEmpty || children.adopted != serial { return nil }
      return Int(node.callItem)
    }
    guard let winner else { return false }
    if items[index].staged == -1 { return items[winner].staged == -1 }
    var last = index
    while items[last].replacement >= 0 { last = Int(items[last].replacement) }
    return last == winner && items[winner].isTaken && !items[winner].keepsValue && items[winner].restored == 0
  }

  @usableFromInline func expect(_ count: Int) {
    // Never by a little: that would copy everything each time.
    if nodes.capacity - nodes.count < count { nodes.reserveCapacity(nodes.count + max(count, nodes.count)) }
    if items.capacity - items.count < count { items.reserveCapacity(items.count + max(count, items.count)) }
  }
}
