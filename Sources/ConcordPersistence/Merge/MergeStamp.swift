import Concord
import ConcordModel

/// How fresh the objects of a merge are.
struct MergeStamp {
  let value: Stamp
  /// Gives a stamp for what has one already; `nil` if the stamp of the objects was given, and is compared.
  private let next: ((Stamp) -> Stamp)?

  /// - Parameter given: the stamp; the next one of the parent's clock if `nil`.
  init(_ given: Stamp?, _ parent: any ContextParent) {
    value = given ?? parent.nextStamp()
    next = given == nil ? { parent.nextStamp(after: $0) } : nil
  }

  /// Whether it was not given.
  var isUnstamped: Bool { next != nil }

  /// Returns the stamp of an object that replaces what is stored; `nil` if what is stored is fresher.
  func over(_ stored: Stamp) -> Stamp? { value > stored ? value : next?(stored) }

  /// Whether an object may replace what is stored.
  func isNewer(than stored: Stamp) -> Bool { value > stored || isUnstamped }
}
