package import Concord

extension Stamp {
  /// The stamp as rows keep it: NaN, which is newer than nothing, is below all other stamps. SQLite has no NaN, and what is compared with one
  /// could not be replaced any more.
  package var kept: Stamp { isNaN ? -.infinity : self }
}
