import Concord
import ConcordModel

/// The stamp of a merge's objects.
struct MergeStamp {
  let value: Stamp
  /// Returns a stamp after a stored one; `nil` if the objects were given a stamp, which is compared.
  private let next: ((Stamp) -> Stamp)?

  /// - Parameter given: the stamp; the next one of the parent's clock if `nil`.
  init(_ given: Stamp?, _ parent: any ContextParent) {
    value = given?.kept ?? parent.nextStamp()
    next = given == nil ? { parent.nextStamp(after: $0) } : nil
  }

  /// Whether no stamp was given.
  var isUnstamped: Bool { next != nil }

  /// Returns the stamp of an object that replaces a stored row; `nil` if the stored row is fresher.
  func over(_ stored: Stamp) -> Stamp? { value > stored ? value : next?(stored) }

  /// Returns the stamp of an object that is inserted after a deletion, if there was one; `nil` if the deletion is fresher.
  func over(_ deletion: Stamp?) -> Stamp? { if let deletion { over(deletion) } else { value } }

  /// Returns whether an object may replace a row with a stamp.
  func isNewer(than stored: Stamp) -> Bool { value > stored || isUnstamped }
}
