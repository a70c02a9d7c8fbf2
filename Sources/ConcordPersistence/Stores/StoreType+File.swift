import Concord
import ConcordModel

extension StoreType {
  private static let typesWithoutFile = Locked<Set<StoreType>>([.inMemory])

  /// Whether stores of the type are kept in a file.
  var hasFile: Bool { !Self.typesWithoutFile.withLock { $0.contains(self) } }

  /// Notes that stores of the type have no file.
  func noteWithoutFile() { Self.typesWithoutFile.withLock { _ = $0.insert(self) } }
}
