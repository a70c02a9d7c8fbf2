package import Concord
package import ConcordModel

/// Changes that a view shows above the stored rows. The overlay is updated in the transactions in which rows are shown, and
/// from the same snapshots, so that no change is ever shown twice, or not at all.
package protocol ViewOverlay: AnyObject, Sendable {
  /// Whether changes are shown above the stored rows.
  var isShowing: Bool { get }

  /// Reads the new changes, without showing them: it may be called again.
  ///
  /// - Returns: `nil` if nothing is new.
  func change(_ reading: any RowReading) throws -> ViewOverlayChange?

  /// Returns the new changes if they are known without reading, and no rows have changed with them.
  func knownChange() -> ViewOverlayChange?
}

/// The new changes in an overlay.
package struct ViewOverlayChange {
  /// The entities that the changes need. Entities that the view does not have are loaded.
  package var needed: Set<EntityKey>
  /// The entities whose rows have changed with them.
  package var changed: Set<EntityKey>
  /// Whether any other rows may have changed, too.
  package var concernsAll: Bool
  /// A closure that is called before the rows are shown.
  package var begin: (_ isKeptUpToDate: Bool) -> Void = { _ in }
  /// A closure that shows the changes, after the rows.
  package var finish: (_ store: EntityStore, _ isKeptUpToDate: Bool) -> Void

  package init(
    needed: Set<EntityKey>, changed: Set<EntityKey> = [], concernsAll: Bool = false,
    finish: @escaping (_ store: EntityStore, _ isKeptUpToDate: Bool) -> Void
  ) {
    (self.needed, self.changed, self.concernsAll, self.finish) = (needed, changed, concernsAll, finish)
  }
}
