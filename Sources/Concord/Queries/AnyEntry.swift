/// An element of an ordered tree, whatever its type. Arrays of these are the same for all types, so that their code is specialised.
// Unchecked, because the compiler cannot see that the rank is set once, with the lock of the query's engine, before the entry is a part of
// the results.
class AnyEntry: @unchecked Sendable {
  /// The number of the entity, in the order in which entities came.
  final let number: UInt64
  final private(set) var rank = SortRank()

  init(number: UInt64 = 0) { self.number = number }

  final func setRank(_ rank: SortRank) { self.rank = rank }
}

/// A number by which entries are compared first, if both have one.
struct SortRank {
  var number: UInt64 = 0
  var isKnown = false
}

// Invariant: a tree of a type of entries has no entries of another one, since these are never inserted, and an engine makes entries of one type.
// Debug builds check each cast.

extension AnyEntry {
  /// The entry as one of a type that it is known to have.
  @inline(__always) final func known<Entry: AnyEntry>(as type: Entry.Type) -> Entry { unsafeDowncast(self, to: type) }
}
