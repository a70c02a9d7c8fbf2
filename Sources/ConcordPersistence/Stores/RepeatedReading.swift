import ConcordModel

/// Keeps the closure of a reading of several stores from being run again without its permission.
///
/// A store that loses its connection runs a closure again that has read nothing from it yet. It does not know what the closure has read from
/// the other stores.
final class RepeatedReading {
  /// Whether the closure may be run again: see ``RowReading/mayReadAgain()``.
  var isAllowed = false
  private let stores: String
  private var hasRun = false
  private var error: (any Error)?

  init(_ stores: [String]) { self.stores = stores.joined(separator: ", ") }

  /// Runs the closure, for the first time or with its permission.
  ///
  /// - Throws: the error of the earlier run, if the closure may not be run again.
  func run<R>(_ body: () throws -> R) throws -> R {
    if hasRun, !isAllowed {
      throw error ?? StoreError.storeFailed(store: stores, reason: "a connection was lost meanwhile")
    }
    hasRun = true
    do { return try body() } catch {
      self.error = error
      throw error
    }
  }
}
