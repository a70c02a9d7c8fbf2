extension Row {
  /// The second table. Its rows come with the module they measure.
  static var consistency: [Row] { [] }
}
