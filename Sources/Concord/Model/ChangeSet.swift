/// The changes of one transaction, an element of ``EntityStore/changes``.
///
/// ```swift
/// for await changeSet in store.changes {
///   for change in changeSet.changes { print(change.kind, change.type, change.id) }
/// }
/// ```
public struct ChangeSet: Sendable {
  /// The changed entities, each once, in the order in which the transaction first wrote them.
  ///
  /// These are the entities that were inserted or removed, or whose own fields or relations changed. A parent that changed only
  /// because an entity inside it did is not among them.
  public let changes: [Change]
  /// The context that the writer gave, if any; see ``EntityStore/transaction(context:file:line:_:)``.
  public let context: TransactionContext?
  /// The part of the package that wrote, so that it can ignore its own writes.
  package let origin: ObjectIdentifier?
  /// The description of the transaction for an inspector; `nil` if none is attached.
  package let commit: InspectedCommit?

  /// A change to one entity.
  public struct Change: Sendable {
    /// The kinds of changes.
    public enum Kind: Sendable, Hashable {
      /// An insertion: the entity was not stored before.
      case inserted
      /// An update of the entity's own fields or relations.
      case updated
      /// A removal: the entity is not stored any longer.
      case removed
    }

    /// The type of the entity.
    public let type: any (Identifiable & Sendable).Type
    // Unchecked by the compiler, since `AnyHashable` is not `Sendable`; the id is a part of a value that is.
    /// The id of the entity.
    nonisolated(unsafe) public let id: AnyHashable
    /// The value before the transaction; `nil` if the entity was not stored.
    public let old: (any Identifiable & Sendable)?
    /// The value after the transaction; `nil` if the entity is not stored any longer.
    public let new: (any Identifiable & Sendable)?
    /// Whether the entity was removed, or with one that it requires; otherwise it was released, since nothing retained it.
    package let wasRemoved: Bool
    /// The stamp that the writer gave; `nil` if it gave none, or if the entity is not stored any longer.
    package let givenStamp: Stamp?

    /// The kind of the change.
    public var kind: Kind { old == nil ? .inserted : new == nil ? .removed : .updated }
  }
}

extension ChangeSet: CustomStringConvertible {
  /// The changes, and who has written them.
  public var description: String { "\(changes)\(context.map { " by \($0.name)" } ?? "")" }
}

extension ChangeSet.Change: CustomStringConvertible {
  public var description: String { "\(kind) \(type) \(id)" }
}
