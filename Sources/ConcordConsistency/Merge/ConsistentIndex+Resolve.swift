/// A strongly connected component of the objects that a merge brings, by their positions.
struct Cycle {
  let members: Set<Int>

  func contains(_ position: Int) -> Bool {
    members.contains(position)
  }
}

extension ConsistentIndex {
  /// Replaces all occurrences inside of the winners by the winning states.
  ///
  /// Contained objects come first, so that each winner is complete when it is written into other objects. Within a cycle that
  /// is not possible: there the occurrences keep the shape in which they came, and take the winner's other properties.
  func resolve() {
    let merge = ConsistentMerge(self, for: .resolving)
    let selfLinked = Set(links.lazy.filter { $0.parent == $0.child }.map(\.parent))
    for component in components(count: winners.count, links: links) {
      let isCycle = component.count > 1 || selfLinked.contains(component[0])
      merge.cycle = isCycle ? Cycle(members: Set(component)) : nil
      var newer: [(position: Int, object: any ConsistentObject)] = []
      for position in component where !isRemoved[position] {
        switch merge.withFate({ merge.mergedWinner(winners[position]) }) {
        case .stays: break
        case .changes(let object): newer.append((position, object))
        case .goes: remove(at: position)
        }
      }
      for (position, object) in newer {
        winners[position] = object
        isResolved[position] = true
      }
    }
  }
}

extension ConsistentIndex {
  /// Whether an object is removed, or requires one that is.
  func removes(_ object: any ConsistentObject) -> Bool {
    func removes<Object: ConsistentObject>(_ object: Object) -> Bool {
      if case .goes = ConsistentMerge(self).fate(of: object) { true } else { false }
    }
    return removes(object)
  }
}

extension ConsistentMerge {
  func mergedWinner(_ winner: any ConsistentObject) -> (any ConsistentObject)? {
    func merged<Object: ConsistentObject>(_ winner: Object) -> (any ConsistentObject)? { mergedParts(of: winner) }
    return merged(winner)
  }

  private func mergedParts<Object: ConsistentObject>(of object: Object) -> Object? {
    once(object) {
      deeper {
        if let object = object as? any StaticallyConsistent { return object.mergingConsistentParts(self) as? Object }
        return object.mergingProperties(self)
      }
    }
  }

  /// Returns the state for an occurrence within its own cycle: the winner with the occurrence's links into the cycle.
  func keepingShape<Object: ConsistentObject>(of object: Object, at position: Int) -> Object? {
    if index.occurrences[position] == 1 { return mergedParts(of: object) }
    return once(object) { deeper { (index.winners[position] as? Object).map { shaping($0, like: object) } } }
  }

  /// Returns the winner with an object's links into the cycle. Fields that are not listed or cannot be set, and links that
  /// cannot be set, are the winner's.
  private func shaping<Object: ConsistentObject>(_ winner: Object, like object: Object) -> Object {
    var own: [String: Any] = [:]
    for case (let label, let value?) in object.properties { own[label] = value }
    var links: [Property] = []
    var changes: [Property] = []
    for (label, value) in winner.properties {
      let ownValue = own.removeValue(forKey: label)
      if leadsIntoCycle(value) || leadsIntoCycle(ownValue) {
        links.append((label, ownValue.flatMap { rest(of: $0) }))
      } else if let value {
        change(label, value, &changes)
      }
    }
    // Properties that are listed only while they have a value.
    for (label, value) in own where leadsIntoCycle(value) { links.append((label, rest(of: value))) }
    let shaped = links.reduce(winner) { $0.setting(property: $1) }
    return setting(changes, in: shaped, { $0.properties }, { $0.setting(property: $1) }) ?? shaped
  }

  /// Returns what the merge leaves of a value; `nil` if nothing.
  private func rest(of value: Any) -> Any? {
    switch withFate({ updated(dynamic: value) }) {
    case .stays: value
    case .changes(let newer): newer
    case .goes: nil
    }
  }

  private func leadsIntoCycle(_ value: Any?) -> Bool {
    guard let value, let cycle else { return false }
    let visitor = ConsistentVisitor()
    visitor.visit(dynamic: value)
    return visitor.takeFound().contains { index.position(of: $0).map { cycle.contains($0) } ?? false }
  }
}

/// The strongly connected components of a graph, contained ones first (Tarjan 1972, without recursion).
func components(count: Int, links: [(parent: Int, child: Int)]) -> [[Int]] {
  var children: [[Int]] = Array(repeating: [], count: count)
  for link in links { children[link.parent].append(link.child) }
  var result: [[Int]] = []
  var order: [Int?] = Array(repeating: nil, count: count)
  var lowest = Array(repeating: 0, count: count)
  var isOpen = Array(repeating: false, count: count)
  var open: [Int] = []
  var next = 0
  for root in 0..<count where order[root] == nil {
    var path: [(node: Int, child: Int)] = [(root, 0)]
    while let (node, child) = path.last {
      if child == 0, order[node] == nil {
        order[node] = next
        lowest[node] = next
        next += 1
        open.append(node)
        isOpen[node] = true
      }
      if child < children[node].count {
        path[path.count - 1].child += 1
        let target = children[node][child]
        if let met = order[target] {
          if isOpen[target] { lowest[node] = min(lowest[node], met) }
        } else {
          path.append((target, 0))
        }
        continue
      }
      path.removeLast()
      if let parent = path.last?.node { lowest[parent] = min(lowest[parent], lowest[node]) }
      guard lowest[node] == order[node] else { continue }
      var component: [Int] = []
      while let member = open.popLast() {
        isOpen[member] = false
        component.append(member)
        if member == node { break }
      }
      result.append(component)
    }
  }
  return result
}
