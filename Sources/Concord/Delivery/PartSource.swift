/// A source of a part of an internal entity, such as an alias's content, or of an entity that may not be stored.
// Unchecked, because its superclass is; it adds functions that never change.
final class PartSource<T: Identifiable & Sendable, Part: Sendable>: ObserverSource<Part>, @unchecked Sendable {
  private let makePart: @Sendable (T?) -> Part
  private let isNothing: @Sendable (T?) -> Bool

  init(
    _ node: EntityNode<T>, _ shared: SharedCore, isNothing: @escaping @Sendable (T?) -> Bool = { $0 == nil },
    _ makePart: @escaping @Sendable (T?) -> Part
  ) {
    self.makePart = makePart
    self.isNothing = isNothing
    super.init(node, shared)
  }

  override func part(_ core: StoreCore, isCommitted: Bool) -> Part? { makePart(entity(core, isCommitted)) }
  override func isAbsent(_ core: StoreCore, _ isCommitted: Bool) -> Bool { isNothing(entity(core, isCommitted)) }

  private func entity(_ core: StoreCore, _ isCommitted: Bool) -> T? {
    node.use(in: core) { node in
      guard let node = node.typed(T.self) else { return nil }
      if isCommitted { return core.view.exists(node) ? core.view.value(of: node) : nil }
      if node.isStale { core.refresh(node) }
      return node.exists ? node.value : nil
    }
  }
}
