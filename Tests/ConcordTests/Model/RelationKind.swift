/// How a relation behaves when an element is to be taken out of it or left out, and whether its elements have an order.
enum RelationKind: Sendable {
  /// An entity, an optional one, and an optional one whose setter ignores `nil`.
  case required, optional, stubbornOptional
  /// Collections with an order, without one, of fixed length, and one whose getter sorts it by the elements' fields.
  case list, unordered, fixedList, optionalFixed, sorted
  /// Wrappers whose cases can be emptied, or ignore `nil`, optional ones, and a list of them.
  case wrapper, stubbornWrapper, optionalWrapper, wrapperList
  /// A list of wrappers that hold several entities: each begins with a slot without a child, whose number says what it is.
  case parts

  /// What a brief form shows in place of a relation that leads back into the cycle; `nil` if it cannot be left out.
  var brief: Relation<Tree>? {
    switch self {
    case .list, .unordered, .sorted, .wrapperList, .parts: Relation(isOmitted: true)
    case .optional, .optionalFixed, .optionalWrapper: Relation(isNil: true)
    case .wrapper: Relation(slots: [Slot()])
    case .required, .stubbornOptional, .fixedList, .stubbornWrapper: nil
    }
  }

  var hasOrder: Bool {
    if case .unordered = self { false } else { true }
  }

  /// The relation without the slot at `index`; `nil` when it cannot be taken out.
  func removing<Child>(_ index: Int, from relation: Relation<Child>) -> Relation<Child>? {
    var rest = relation
    switch self {
    case .required, .stubbornWrapper, .stubbornOptional, .fixedList:
      return nil
    case .optional, .optionalFixed, .optionalWrapper:
      return Relation(isNil: true)
    case .wrapper:
      return Relation(slots: [Slot()])
    case .list, .unordered, .sorted, .wrapperList:
      rest.slots.remove(at: index)
    case .parts:
      rest.slots.removeSubrange(Piece.removed(index, from: relation.slots))
    }
    return rest
  }
}
