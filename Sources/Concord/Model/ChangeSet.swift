/// What one transaction changed, as ``EntityStore/changes`` tells it.
///
/// ```swift
/// for await changeSet in store.changes {
///   for change in changeSet.changes { print(change.kind, change.type, change.id) }
/// }
/// ```
public struct ChangeSet: Sendable {
  /// The entities that came or went, or whose own fields or relations changed, each once, in the order in which they were first
  /// written. A parent that changed only because an entity inside it did is not among them.
  public let changes: [Change]
  /// Who wrote it, if the writer said so; see ``EntityStore/transaction(context:_:)``.
  public let context: TransactionContext?
  /// Which part of the package wrote it, so that it does not hear its own writes.
  package let origin: ObjectIdentifier?

  /// What happened to one entity.
  public struct Change: Sendable {
    public enum Kind: Sendable, Hashable { case inserted, updated, removed }

    /// The type of the entity.
    public let type: any (Identifiable & Sendable).Type
    // Unchecked by the compiler, since `AnyHashable` is not `Sendable`; the id is a part of a value that is.
    nonisolated(unsafe) public let id: AnyHashable
    /// The value before; `nil` if the entity was not stored.
    public let old: (any Identifiable & Sendable)?
    /// The value now; `nil` if the entity is not stored any longer.
    public let new: (any Identifiable & Sendable)?
    /// Whether somebody removed it, or what it cannot do without; otherwise it went because nobody needs it any longer.
    package let wasRemoved: Bool
    /// The stamp that the writer gave; `nil` if there was none, or if the entity is not stored any longer.
    package let givenStamp: Stamp?

    public var kind: Kind { old == nil ? .inserted : new == nil ? .removed : .updated }
  }
}
