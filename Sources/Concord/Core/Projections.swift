/// The projections of a store, whose shared fields are made equal at the end of each transaction.
///
/// A type and its projections are a *star*. Of the values stored under one id, those that are newer than the whole write
/// their shared fields to it, the oldest first; then all projections take the fields of the whole.
final class Projections {
  private let graph: Graph
  @exclusivity(unchecked) private var stars: [ObjectIdentifier: any AnyStar] = [:]

  init(graph: Graph) { self.graph = graph }

  var isWanted: Bool { !stars.isEmpty }

  /// Registers a type that is new to the store, if it is a projection.
  func didAdd(_ type: Any.Type) {
    if let projection = type as? any EntityProjection.Type { add(projection) }
  }

  private func add<P: EntityProjection>(_ type: P.Type) {
    let whole = graph.table(P.Whole.self)
    let star = stars[whole.valueType] as? Star<P.Whole> ?? Star(whole)
    star.members.append(Projected<P>(graph.table(P.self)))
    stars[whole.valueType] = star
    stars[ObjectIdentifier(P.self)] = star
    graph.written.isProjected = true
  }

  /// Makes a write without a stamp newer than what the other members of its star have.
  func raiseStamp(of written: Node) { stars[written.table.valueType]?.raiseStamp(of: written) }

  /// Brings in step what the transaction wrote.
  func update(_ core: StoreCore) {
    var done = core.layers.firstUnprojected
    let (first, isAbove) = (done, core.layers.isShown)
    // A setter may change the value that it is given. Such a pair is left as it is after some rounds.
    for _ in 0..<8 {
      let written = graph.written.all
      guard done < written.count else { return }
      var order: [ObjectIdentifier: Int] = [:]
      for (number, node) in written[first...].enumerated() { order[ObjectIdentifier(node)] = number }
      for node in written[done...] { stars[node.table.valueType]?.update(node, WriteTimes(order, isAbove), core) }
      done = written.count
    }
  }
}

private protocol AnyStar {
  func raiseStamp(of written: Node)
  func update(_ node: Node, _ times: WriteTimes, _ core: StoreCore)
}

/// The order in which nodes were written. Writes of layers have no stamps of their own, and are later than all in the base.
private struct WriteTimes {
  private let order: [ObjectIdentifier: Int]
  private let isAbove: Bool

  init(_ order: [ObjectIdentifier: Int], _ isAbove: Bool) { (self.order, self.isAbove) = (order, isAbove) }

  func time(_ node: Node) -> (Stamp, Int) {
    let number = order[ObjectIdentifier(node)]
    return (isAbove && number != nil ? .infinity : node.stamp, number ?? -1)
  }
}

/// A type with its projections.
private final class Star<Whole: Identifiable & Sendable>: AnyStar {
  private let table: Table<Whole>
  var members: [Member<Whole>] = []

  init(_ table: Table<Whole>) { self.table = table }

  func raiseStamp(of written: Node) {
    guard let id = id(of: written) else { return }
    for case let node? in members.map({ $0.find(id) }) + [table.find(id)] where node.exists && node !== written {
      written.stamp = written.stamp.raised(above: node.stamp)
    }
  }

  private func id(of node: Node) -> Whole.ID? {
    node.typed(Whole.self)?.value?.id ?? members.lazy.compactMap { $0.id(of: node) }.first
  }

  func update(_ written: Node, _ times: WriteTimes, _ core: StoreCore) {
    guard let id = id(of: written) else { return }
    func time(_ node: Node) -> (Stamp, Int) { times.time(node) }
    let whole = table.find(id)
    let others = members.compactMap { member in member.find(id).map { (member, $0) } }
    if !written.exists {
      // An entity that was never committed was not removed.
      guard !written.flags.contains(.uncommitted) else { return }
      for node in others.map(\.1) + (whole.map { [$0] } ?? []) where node.exists && time(node).1 < time(written).1 {
        core.removal.remove(node)
      }
      return
    }
    guard let whole, whole.exists else { return }
    core.refresh(whole)
    let present = others.filter { $0.1.exists }
    for (_, node) in present { core.refresh(node) }
    guard var value = whole.value else { return }
    let newer = present.filter { time($0.1) > time(whole) }.sorted { time($0.1) < time($1.1) }
    for (member, node) in newer { member.give(node, &value) }
    core.replace(whole, by: value)
    for (member, node) in present { member.take(node, value, core) }
  }
}

/// A projection of a type, whatever its own type.
private class Member<Whole: Identifiable & Sendable> {
  func id(of node: Node) -> Whole.ID? { nil }
  func find(_ id: Whole.ID) -> Node? { nil }
  func give(_ node: Node, _ whole: inout Whole) {}
  func take(_ node: Node, _ whole: Whole, _ core: StoreCore) {}
}

private final class Projected<P: EntityProjection>: Member<P.Whole> {
  private let table: Table<P>
  private let fields = P.sharedFields

  init(_ table: Table<P>) { self.table = table }

  override func id(of node: Node) -> P.ID? { node.typed(P.self)?.value?.id }
  override func find(_ id: P.ID) -> Node? { table.find(id) }

  override func give(_ node: Node, _ whole: inout P.Whole) {
    guard let value = node.typed(P.self)?.value else { return }
    for field in fields { field.give(value, &whole) }
  }

  override func take(_ node: Node, _ whole: P.Whole, _ core: StoreCore) {
    guard let node = node.typed(P.self), var value = node.value else { return }
    for field in fields { field.take(&value, whole) }
    core.replace(node, by: value)
  }
}

extension StoreCore {
  /// Replaces the value of an entity, and keeps its stamp.
  fileprivate func replace<T: Identifiable & Sendable>(_ node: EntityNode<T>, by value: T) {
    guard let table = node.table.typed(T.self), let present = node.value, value.id == present.id,
      !table.isSame(present, value)
    else { return }
    graph.journal.willWrite(node)
    graph.journal.countWrite()
    merge.logStored(node, .none)
    if table.isAggregate {
      merge.update(
        node, pending: table.addPending(value), given: table.addPending(present), stamp: .none, isAlone: true
      ) { visitor.visit(present, in: table) }
    } else {
      node.value = value
      graph.didWrite(node)
    }
  }
}
