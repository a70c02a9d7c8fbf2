/// What a row came to.
struct Measurement {
  /// The figures of one side, one per repetition.
  struct Series {
    private(set) var figures: [Double] = []

    mutating func append(_ figure: Double) { figures.append(figure) }

    /// The median: half of the repetitions took less.
    var median: Double? {
      guard !figures.isEmpty else { return nil }
      let sorted = figures.sorted()
      let middle = sorted.count / 2
      return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// What so many of a hundred repetitions did not exceed.
    func percentile(_ percent: Int) -> Double? {
      guard !figures.isEmpty else { return nil }
      let rank = (percent * figures.count + 99) / 100
      return figures.sorted()[max(rank, 1) - 1]
    }

    var least: Double? { figures.min() }
  }

  var concord = Series()
  var floor = Series()
}
