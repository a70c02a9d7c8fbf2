package import ConcordModel

/// An index of words as a program without the model sees it.
package struct WordInspection: Sendable {
  /// The parts that are missing, and what follows from it.
  package var problems: [String] = []
  /// The reason why the words are not compared; `nil` if they are.
  package var reason: String?
  /// The number of rows with whose texts the index disagrees.
  package private(set) var count = 0
  /// The keys of the first of them that were found.
  package private(set) var examples: [StoredValue] = []
  /// The command that makes the index anew.
  package let remedy: String
  private let most: Int

  /// - Parameter most: the number of rows whose keys are kept.
  package init(remedy: String, most: Int) { (self.remedy, self.most) = (remedy, most) }

  package mutating func add(_ key: StoredValue) {
    count += 1
    if examples.count < most { examples.append(key) }
  }
}
