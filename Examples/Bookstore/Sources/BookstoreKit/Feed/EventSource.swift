/// Where events come from, one at a time.
protocol EventSource: Sendable {
  /// The next event or the mistake in its place, with the number of its line; `nil` at the end.
  mutating func next() -> SourcedEvent?
}

/// A line of a source: what it says, or what is wrong with it.
struct SourcedEvent: Sendable {
  let line: Int
  let event: Result<Event, EventProblem>
}
