package import Concord
package import ConcordModel

/// What a view shows above what is stored: it is brought up to date in the transactions in which rows are shown, and from the
/// same snapshots, so that nothing is seen twice, or not at all, for an instant.
package protocol ViewOverlay: AnyObject, Sendable {
  /// Whether something is shown above what is stored.
  var isShowing: Bool { get }

  /// Reads what is new. Nothing changes yet: it may be called again.
  ///
  /// - Returns: `nil` if nothing is new.
  func change(_ reading: any RowReading) throws -> ViewOverlayChange?
}

/// What is new in an overlay.
package struct ViewOverlayChange {
  /// The entities that it needs. Those that are not known to the view are loaded.
  package var needed: Set<EntityKey>
  /// The entities whose rows have changed with it.
  package var changed: Set<EntityKey>
  /// Whether any other row may have, too.
  package var concernsAll: Bool
  /// Shows it, after the rows.
  package var finish: (_ store: EntityStore, _ isKeptUpToDate: Bool) -> Void

  package init(
    needed: Set<EntityKey>, changed: Set<EntityKey>, concernsAll: Bool,
    finish: @escaping (_ store: EntityStore, _ isKeptUpToDate: Bool) -> Void
  ) {
    (self.needed, self.changed, self.concernsAll, self.finish) = (needed, changed, concernsAll, finish)
  }
}
