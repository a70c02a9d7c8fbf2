/// A change of an entity: its new value, or `nil` if it is gone.
struct EntityChange: Sendable {
  /// The number of the entity, in the order in which entities came.
  let number: UInt64
  let entry: AnyEntry?

  init<T: Sendable>(number: UInt64, value: T?) {
    self.number = number
    switch value {
    case .some(let value): entry = QueryEntry<T>(value, number: number)
    case .none: entry = nil
    }
  }
}

/// The entities that a query has found, by its order, and by their numbers.
struct QueryState<T: Identifiable & Sendable>: Sendable {
  var sorted = OrderedTree<QueryEntry<T>>()
  var byNumber = OrderedTree<QueryEntry<T>>()
  var edition = ResultsEdition()
}

/// A state of the store, as a query sees it: the changes to an earlier one, until the result is made of them.
///
/// It is made with the store's lock held. The result is made without it, since that runs the user's code.
// Unchecked, because the compiler cannot see that `changes` and `base` are used only with the lock of the engine's waiting versions, and `made`
// only with that of its results.
final class QueryVersion<T: Identifiable & Sendable>: @unchecked Sendable {
  /// Whether the version shows an open transaction.
  let isOpen: Bool
  /// The version that the changes of an open transaction were made to, until the result is made.
  private(set) var base: QueryVersion?
  /// The changes, in the order of the numbers, until the result is made.
  private(set) var changes: ContiguousArray<EntityChange>
  /// The result, once it is made.
  var made: QueryState<T>?

  init(_ changes: ContiguousArray<EntityChange>, to base: QueryVersion? = nil) {
    (self.changes, self.base, isOpen) = (changes, base, base != nil)
  }

  /// Removes the changes and the base, and returns them, to be destroyed without a lock.
  func takeChanges() -> (ContiguousArray<EntityChange>, QueryVersion?) {
    defer { (changes, base) = ([], nil) }
    return (changes, base)
  }

  /// Makes the changes of an earlier version those of this one. Returns those that have later ones, to be destroyed without a lock.
  func precede(with earlier: QueryVersion) -> [EntityChange] {
    var (merged, former, position) = (ContiguousArray<EntityChange>(), [EntityChange](), 0)
    merged.reserveCapacity(changes.count + earlier.changes.count)
    for change in earlier.changes {
      while position < changes.count, changes[position].number < change.number {
        merged.append(changes[position])
        position += 1
      }
      if position < changes.count, changes[position].number == change.number {
        former.append(change)
      } else {
        merged.append(change)
      }
    }
    merged += changes[position...]
    changes = merged
    return former
  }
}
