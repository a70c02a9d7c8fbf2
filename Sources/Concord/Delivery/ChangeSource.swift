/// A source of a store's change sets.
// Unchecked, because its superclass is; it adds no field.
final class ChangeSource: ObserverSource<ChangeSet>, @unchecked Sendable {
  override func part(_ core: StoreCore, isCommitted: Bool) -> ChangeSet? { core.feed.present }
}
