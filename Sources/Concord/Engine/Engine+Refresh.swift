/// Bringing values up to date: what was marked is renewed when somebody looks.
extension Engine {
  @usableFromInline func refresh(_ node: Node) {
    guard node.isDirty else { return }
    if node.table.reachesRecursion {
      CycleSearch(engine: self).refresh(node)
    } else {
      refreshTree(node)
    }
  }

  /// Types that cannot contain themselves are as deep as there are types, so recursion is safe.
  @usableFromInline func refreshTree(_ node: Node) {
    guard let children = node.children else { return }
    for ordinal in children.dirty.ordinals() {
      let child = children.edges[Int(ordinal)].child
      if child.isDirty { refreshTree(child) }
    }
    node.patchDirtyChildren()
    node.flags.remove(.dirty)
    taint(node)
  }
}
