extension Engine {
  /// Takes an entity out everywhere, and with it every parent that requires it.
  @usableFromInline func remove(_ first: Node) -> Bool {
    guard first.exists else { return false }
    let (doomed, shrinking) = whatGoes(with: first)
    erase(doomed)
    for (parent, ordinals) in shrinking where parent.exists {
      if parent.takeOut(ordinals, in: self) {
        changed(parent)
        if let alias = parent as? any AliasNode { alias.loseEntity(in: self) }
      } else {
        // A setter refuses in the end what it promised.
        _ = remove(parent)
      }
    }
    cutOff(doomed)
    return true
  }

  /// Removes all aliases and entities. Nothing is taken out of anything: who still observes an entity keeps its last value
  /// whole.
  @usableFromInline func removeAll() {
    removeAllAliases()
    var doomed: [Node] = []
    var groups: [Node] = []
    for table in tables.values {
      for node in table.allNodes() where node.exists {
        if table.isInternal { groups.append(node) } else { doomed.append(node) }
      }
    }
    erase(doomed)
    for group in groups {
      guard let children = group.children, !children.edges.isEmpty else { continue }
      if group.takeOut(Array(0..<Int32(children.edges.count)), in: self) { changed(group) }
    }
    cutOff(doomed)
  }

  /// The entity and all that require it, directly or not; and the parents that can do without, with what they lose.
  private func whatGoes(
    with first: Node
  ) -> (doomed: [Node], shrinking: [(parent: Node, ordinals: [Int32])]) {
    var doomed = [first]
    var isDoomed: Set<ObjectIdentifier> = [ObjectIdentifier(first)]
    var losses: [ObjectIdentifier: (parent: Node, ordinals: [Int32])] = [:]
    var next = 0
    while next < doomed.count {
      let node = doomed[next]
      next += 1
      var here: [ObjectIdentifier: (parent: Node, ordinals: [Int32])] = [:]
      for i in 0..<node.parents.count {
        let edge = node.parents[i]
        here[ObjectIdentifier(edge.parent), default: (edge.parent, [])].ordinals.append(edge.ordinal)
      }
      for (key, loss) in here where !isDoomed.contains(key) {
        if loss.parent.required(among: loss.ordinals).isEmpty {
          losses[key, default: (loss.parent, [])].ordinals += loss.ordinals
        } else {
          isDoomed.insert(key)
          doomed.append(loss.parent)
        }
      }
    }
    return (doomed, losses.filter { !isDoomed.contains($0.key) }.map(\.value))
  }

  private func erase(_ doomed: [Node]) {
    // Observers keep the last value as it is now, before any of it goes.
    for node in doomed where node.holders > 0 { refresh(node) }
    for node in doomed {
      journal(node)
      if let logger, !node.table.isInternal, let entry = node.logRelease(to: logger) { logs.append(entry) }
      node.flags.remove(.exists)
      node.stamp = -.infinity
      changed(node)
    }
  }

  private func cutOff(_ doomed: [Node]) {
    for node in doomed {
      removeChildren(of: node)
      suspect(node)
    }
  }
}
