/// An occurrence of an entity in the value being merged.
@usableFromInline struct Occurrence {
  /// The node. Not counted: tables retain all nodes until the call has ended.
  let borrowed: Borrowed<Node>
  /// The slot of the value in the node's table; -1 if the node itself has it, because it was new to the store.
  var pending: Int32
  /// The slot of the value to compare with, which a closure received; -1 if there is none.
  var base: Int32 = -1
  /// The occurrence whose value contains this one; -1 for the outermost.
  var parent: Int32 = -1
  var level: Int32 = 0
  /// The occurrence of the same node before this one; -1 if there is none.
  var earlier: Int32 = -1
  /// The later occurrence on the same level whose equal value represents this one; -1 if there is none.
  var replacement: Int32 = -1
  /// The position of this value's relations in the list of relations; -1 if its contents were not visited.
  var firstRelation: Int32 = -1
  // Before the schema, where it fits in the padding: a batch has one occurrence for each entity.
  var state: State
  /// The relations of a visited value. Not counted: the list of occurrences retains them, so that occurrences are copied as bits.
  fileprivate var borrowedSchema: Borrowed<AnySchema>?

  struct State: OptionSet {
    let rawValue: UInt16
    /// The entity was new to the store when the call began.
    static let isNew = State(rawValue: 1 << 0)
    /// The value takes part in the choice of the winner.
    static let counts = State(rawValue: 1 << 1)
    /// A closure changed the value, which wins over values that the closure received.
    static let isEdit = State(rawValue: 1 << 2)
    /// The value is the one that the node has.
    static let showsPresent = State(rawValue: 1 << 3)
    /// The value won and was newer: the node has it now.
    static let isApplied = State(rawValue: 1 << 4)
    /// The contents are not to be visited.
    static let isClosed = State(rawValue: 1 << 5)
    /// The value differs from the one in the parent.
    static let isOtherThanShown = State(rawValue: 1 << 6)
    /// The entity's type has no relations.
    static let isFlat = State(rawValue: 1 << 7)
    /// The contents differ from the visited ones.
    static let isOtherThanVisited = State(rawValue: 1 << 8)
  }

  init(_ node: Node, pending: Int32, parent: Int32, level: Int32, state: State) {
    borrowed = Borrowed(node)
    (self.pending, self.parent, self.level, self.state) = (pending, parent, level, state)
  }

  var node: Node { borrowed.use { $0 } }
  var schema: AnySchema? { borrowedSchema?.use { $0 } }

  var value: ValueReference { pending < 0 ? .own(node) : .pending(pending) }
}

/// One relation of a visited value: a range of occurrences, or the stored relation.
struct VisitedRelation {
  var first: Int32 = 0
  var count: Int32 = 0
  /// The index of the stored relation that is kept, because the value omits or does not change it; otherwise -1.
  var kept: Int32 = -1

  var isKept: Bool { kept >= 0 }
}

/// All occurrences in the value being merged, level by level: contents come later than their parents.
@usableFromInline final class OccurrenceList {
  @exclusivity(unchecked) var items: ContiguousArray<Occurrence> = []
  @exclusivity(unchecked) var relations: ContiguousArray<VisitedRelation> = []
  /// The schemas of the visited values. Kept for the next call, which usually visits values of the same ones.
  @exclusivity(unchecked) private var schemas: ContiguousArray<AnySchema> = []
  /// The tables that have pending values.
  @exclusivity(unchecked) private var tables: ContiguousArray<AnyTable> = []
  /// The occurrence that is being visited.
  @exclusivity(unchecked) var parent: Int32 = -1
  @exclusivity(unchecked) var level: Int32 = 0

  @usableFromInline func append(_ node: Node, pending: Int32) {
    if pending == 0 { tables.append(node.table) }
    items.append(
      Occurrence(
        node, pending: pending, parent: parent, level: level,
        state: node.table.isAggregate ? [] : [.isFlat, .isClosed]))
  }

  @usableFromInline func appendNew(_ node: Node) {
    items.append(
      Occurrence(
        node, pending: -1, parent: parent, level: level,
        state: node.table.isAggregate ? .isNew : [.isNew, .isFlat, .isClosed]))
  }

  func setSchema(_ schema: AnySchema, of i: Int) {
    if schemas.last !== schema { schemas.append(schema) }
    items[i].borrowedSchema = Borrowed(schema)
  }

  @usableFromInline func reserve(_ more: Int) {
    // Never by a little, which would copy everything each time.
    if items.capacity - items.count < more { items.reserveCapacity(items.count + max(more, items.count)) }
  }

  /// Adds a copy of a node's value, or of its brief form, to compare with. Returns its slot.
  func addPending(_ node: Node, isBrief: Bool) -> Int32 {
    let pending = node.table.addPending(node, isBrief: isBrief)
    if pending == 0 { tables.append(node.table) }
    return pending
  }

  /// Notes that a table has pending values.
  func use(_ table: AnyTable) { tables.append(table) }

  func removeAll() {
    for i in items.indices { items[i].borrowed.use { $0.occurrence = -1 } }
    for table in tables { table.removePending() }
    if !tables.isEmpty { tables.removeAll(keepingCapacity: true) }
    items.removeAll(keepingCapacity: items.count < 1024)
    if !relations.isEmpty { relations.removeAll(keepingCapacity: relations.count < 1024) }
    if schemas.count > 16 { schemas.removeAll() }
    parent = -1
    level = 0
  }
}
