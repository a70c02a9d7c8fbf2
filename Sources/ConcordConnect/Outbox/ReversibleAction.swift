public import Concord

/// A forwarded action that another one takes back, also after the web service has accepted it.
///
/// ```swift
/// extension AddToCart: ReversibleAction {
///   func inverse(in store: EntityStore) throws -> RemoveFromCart { RemoveFromCart(book: book) }
/// }
/// ```
///
/// ``Connect/forward(_:as:joining:)`` records it as a step that can be undone. A `SyncAction` can be one, too.
public protocol ReversibleAction: ForwardAction {
  /// The type of the action that takes this one back. It is registered together with this one.
  associatedtype Inverse: ForwardAction

  /// Returns the action that takes this one back.
  ///
  /// It is called when the action is forwarded, before its change is shown, and when a step is undone or redone, so that the inverse can
  /// keep what was there.
  ///
  /// What other actions and writers change later should stay when the inverse is applied: let its ``ForwardAction/apply(to:)`` set only what the
  /// action has set, and throw if that is different by then. An inverse that is a ``ReversibleAction`` itself makes redoing as careful: a step is
  /// redone by what takes its inverse back, and by the action itself otherwise.
  ///
  /// - Parameter store: a store with what is shown before the change. It may hold only the entities that the action
  ///   names, and those that they contain. What is written to it is discarded.
  /// - Throws: an error if the action cannot be taken back; then it is not forwarded.
  func inverse(in store: EntityStore) throws -> Inverse
}

extension ReversibleAction {
  static var inverseType: any ForwardAction.Type { Inverse.self }
}

extension ForwardAction {
  /// Returns the action that takes this one back, in a transaction of which nothing stays; `nil` if it has none.
  ///
  /// - Throws: what ``ReversibleAction/inverse(in:)`` throws, and ``Errors/unorderedInverse(_:)``.
  func orderedInverse(in store: EntityStore) throws -> (any ForwardAction)? {
    guard let action = self as? any ReversibleAction else { return nil }
    let inverse = Locked<(any ForwardAction)?>(nil)
    // As a layer, since it is to see what the pending layers show.
    let layer = try store.optimistically { store in
      let found = try action.inverse(in: store)
      inverse.withLock { $0 = found }
    }
    layer.rollBack()
    guard let inverse = inverse.withLock({ $0 }) else { return nil }
    if inverse.entity != entity {
      throw Errors.unorderedInverse("'\(type(of: inverse).name)' names \(inverse.entity), and not \(entity)")
    }
    return inverse
  }

  /// Returns the action that does the same as this one, and only to what is shown now, in a transaction of which nothing stays: what
  /// takes its inverse back.
  ///
  /// - Returns: `nil` if its inverse cannot be taken back.
  func repetition(in store: EntityStore) -> (any ForwardAction)? {
    guard let inverse = try? orderedInverse(in: store),
      let layer = try? store.optimistically({ try apply(to: $0) })
    else { return nil }
    defer { layer.rollBack() }
    return try? inverse.orderedInverse(in: store)
  }
}
