package import Foundation

/// The limits on the deletions that a store remembers.
package enum DeletionLimits {
  /// The time for which deletions are remembered by default: 30 days, in seconds.
  package static let time: TimeInterval = 30 * day
  package static let day: TimeInterval = 86_400
  /// After how many deletions outdated ones are looked for.
  package static let sweep = 32
  /// The number of outdated deletions that are forgotten at once; more than are remembered meanwhile.
  package static let swept = 64
  /// The number of deletions that are swept when a file is attached.
  package static let sweptAtStart = 1000
}
