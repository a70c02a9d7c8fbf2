package import Concord
package import ConcordModel

/// What a view shows above what is stored: it is brought up to date in the transactions in which rows are shown, and from the
/// same snapshots, so that nothing is seen twice, or not at all, for an instant.
package protocol ViewOverlay: AnyObject, Sendable {
  /// Whether something is shown above what is stored.
  var isShowing: Bool { get }

  /// Reads what is new. Nothing changes yet: it may be called again.
  ///
  /// - Parameter keys: the entities that are about to be shown.
  /// - Returns: `nil` if nothing is new.
  func change(_ reading: any RowReading, showing keys: Set<EntityKey>) throws -> ViewOverlayChange?
}

/// What is new in an overlay.
package struct ViewOverlayChange {
  /// The entities that are to be shown again with it, whether they are known already or not.
  package var keys: Set<EntityKey>
  /// Whether any other that is shown may be another one, too.
  package var concernsAll: Bool
  /// Shows it, after the rows.
  package var finish: (_ store: EntityStore, _ isKeptUpToDate: Bool) -> Void

  package init(
    keys: Set<EntityKey>, concernsAll: Bool, finish: @escaping (_ store: EntityStore, _ isKeptUpToDate: Bool) -> Void
  ) {
    (self.keys, self.concernsAll, self.finish) = (keys, concernsAll, finish)
  }
}
