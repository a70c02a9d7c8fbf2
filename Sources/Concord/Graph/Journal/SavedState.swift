/// What the journal keeps of a node.
@usableFromInline class SavedState {
  @usableFromInline final let node: Node
  let stamp: Stamp
  let flags: Node.Flags
  let component: Component?
  var children: SavedChildren?
  /// Where the journal has an earlier state of the same node; -1 if it has none.
  var previous: Int32 = -1
  /// The node was written; otherwise only what it shows of its children was brought up to date.
  var isWrite = true
  /// What the node shows of its children may be another form than then, because components changed.
  var showsOtherForms = false
  /// The node had a value.
  @usableFromInline final let hasValue: Bool

  init(_ node: Node, hasValue: Bool = false) {
    self.node = node
    self.hasValue = hasValue
    stamp = node.stamp
    flags = node.flags
    component = node.links?.component
    children = node.children.map(SavedChildren.init)
  }
}

/// What the journal keeps of an entity.
@usableFromInline final class SavedValue<T>: SavedState {
  @exclusivity(unchecked) @usableFromInline var value: T?

  init(_ node: Node, value: T?) {
    self.value = value
    super.init(node, hasValue: value != nil)
  }
}

/// The children a node had. The list is not changed once the node has another, but for what is stale.
struct SavedChildren {
  let list: ChildList
  /// The ordinals at which the saved value shows something older than the committed values of the children.
  var stale: ContiguousArray<Int32>

  init(_ list: ChildList) {
    self.list = list
    stale = list.stale.ordinals()
  }
}
