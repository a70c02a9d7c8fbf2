extension Int {
  /// Returns the number with what it counts, as people read it: `1 row`, `2 rows`.
  ///
  /// - Parameters:
  ///   - one: the name of one.
  ///   - many: the name of several, or of none; by default that of one with an *s*.
  package func of(_ one: String, _ many: String? = nil) -> String { "\(self) \(self == 1 ? one : many ?? one + "s")" }
}
