/// Events from the generator, as a source.
struct GeneratedEvents: EventSource {
  private var generator: EventGenerator
  private var line = 0

  init(_ generator: EventGenerator) { self.generator = generator }

  mutating func next() -> SourcedEvent? {
    line += 1
    return SourcedEvent(line: line, event: .success(generator.next()))
  }
}
