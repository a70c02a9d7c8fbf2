/// A saved state of a node in the journal.
@usableFromInline class SavedState {
  @usableFromInline final let node: Node
  let stamp: Stamp
  let flags: Node.Flags
  let component: Component?
  var children: SavedChildren?
  /// The position of an earlier state of the same node; -1 if there is none.
  var previous: Int32 = -1
  /// Whether the node was written; otherwise only the children in its value were brought up to date.
  var isWrite = true
  /// Whether the node may show other forms of its children than when it was saved, because components changed.
  var showsOtherForms = false
  /// Whether the node had a value.
  @usableFromInline final let hasValue: Bool

  init(_ node: Node, hasValue: Bool = false) {
    self.node = node
    self.hasValue = hasValue
    stamp = node.stamp
    flags = node.flags
    component = node.links?.component
    children = node.children.map(SavedChildren.init)
  }

  /// Notes from now on the places at which the saved value becomes outdated.
  func keepForLayers() {
    if let list = children?.list, list.formerlyStale == nil { list.formerlyStale = FormerlyStale() }
  }
}

/// A saved state of a node with its value.
@usableFromInline final class SavedValue<T>: SavedState {
  @exclusivity(unchecked) @usableFromInline var value: T?

  init(_ node: Node, value: T?) {
    self.value = value
    super.init(node, hasValue: value != nil)
  }
}

/// The saved children of a node. The list does not change once the node has another one, except for its stale ordinals.
struct SavedChildren {
  let list: ChildList
  /// The ordinals at which the saved value shows older values than the committed ones of the children.
  var stale: ContiguousArray<Int32>

  init(_ list: ChildList) {
    self.list = list
    stale = list.stale.ordinals()
  }
}
