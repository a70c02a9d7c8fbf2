/// A demand of a query's condition on a stored property, by which changes find the query: it concerns no entity whose property is
/// otherwise, and was otherwise before.
struct QueryDemand<T> {
  enum Condition {
    /// The property has a value, whose hash is known.
    case hash(Int, (T) -> Int)
    /// The property is in an interval.
    case interval(ValueInterval<RangeKey>, (T) -> RangeKey?)
  }

  let property: PropertyPath
  let condition: Condition
  /// Describes the demand as a person writes it.
  let words: () -> String
}

/// The way to a stored property of a type, also to one of a value inside it.
struct PropertyPath: Hashable {
  /// The key paths on the way. The value at the end of each but the last is optional.
  let steps: [AnyKeyPath]

  init(_ steps: AnyKeyPath...) { self.steps = steps }
}

extension PropertyPath: CustomStringConvertible {
  var description: String {
    steps.dropFirst().reduce(steps.first.map { "\($0)" } ?? "") { path, step in
      // Without the type that it begins with.
      let step = "\(step)"
      return "\(path)?\(step.firstIndex(of: ".").map { step[$0...] } ?? "")"
    }
  }
}
