extension EntityStore {
  /// What is wrong inside the store, for its own tests: empty when all is well. Waits for an open transaction.
  package func _checkInvariants() -> [String] { engine.write { engine.brokenInvariants() } }

  /// How much there is, for tests and benchmarks.
  package func _statistics() -> (entities: Int, nodes: Int) {
    engine.write {
      let nodes = engine.tables.values.filter { !$0.isInternal }.flatMap { $0.allNodes() }
      return (nodes.count(where: \.exists), nodes.count)
    }
  }
}

extension Engine {
  fileprivate func brokenInvariants() -> [String] {
    commit()
    var problems: [String] = []
    for table in tables.values {
      for node in table.allNodes() {
        let name = "\(type(of: node)) \(node.debugID)"
        for (ordinal, edge) in (node.children?.edges ?? []).enumerated() {
          let back = edge.child.parents[Int(edge.backIndex)]
          if back.parent !== node || back.ordinal != ordinal {
            problems.append("\(name): edge \(ordinal) is not known below")
          }
          if !edge.child.exists { problems.append("\(name): child \(ordinal) does not exist") }
          let isDirtyEdge = node.children?.dirty.contains(Int32(ordinal)) ?? false
          if edge.child.isDirty, !edge.child.flags.contains(.rooted), !isDirtyEdge {
            problems.append("\(name): child \(ordinal) is dirty, the edge is not")
          }
          if isDirtyEdge, !node.isDirty, !node.flags.contains(.rooted) {
            problems.append("\(name): edge is dirty, node is not")
          }
          if edge.child.flags.contains(.marked), !node.isDirty {
            problems.append("\(name): child \(ordinal) is marked, node is clean")
          }
        }
        if !node.subscribers.isEmpty, node.isDirty { problems.append("\(name): observed and dirty") }
        if node.subscribers.enumerated().contains(where: { $1.position != $0 }) {
          problems.append("\(name): a subscriber does not know its place")
        }
        if node.holders < 0 { problems.append("\(name): more holders ceased than began") }
        if node.exists, node.holders == 0, node.parents.isEmpty { problems.append("\(name): nobody keeps it") }
        if !node.exists, node.holders == 0 { problems.append("\(name): nobody waits for it") }
        if !node.exists, node.children != nil { problems.append("\(name): does not exist and has children") }
        if node.flags.contains(.candidate) || node.flags.contains(.suspect) || node.flags.contains(.doubtful) {
          problems.append("\(name): left over from a transaction")
        }
        if node.exists, node.holders == 0, node.table.isRecursive {
          var top = node
          var steps = 0
          while top.holders == 0, top.table.isRecursive, let keeper = top.keeper, steps < 100_000 {
            if !(0..<top.parents.count).contains(where: { top.parents[$0].parent === keeper }) {
              problems.append("\(name): a keeper is no parent")
              break
            }
            top = keeper
            steps += 1
          }
          if top.holders == 0, top.table.isRecursive { problems.append("\(name): nobody above is held") }
        }
      }
    }
    return problems
  }
}
