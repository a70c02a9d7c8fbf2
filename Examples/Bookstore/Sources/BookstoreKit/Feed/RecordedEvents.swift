/// Events from a file or from standard input, one JSON object on each line (NDJSON).
struct RecordedEvents: EventSource {
  private var reader: LineReader

  init(_ reader: LineReader) { self.reader = reader }

  mutating func next() -> SourcedEvent? {
    while let line = reader.next() {
      switch line.bytes {
      case .failure(let problem): return SourcedEvent(line: line.number, event: .failure(problem))
      // A blank line is no event and no mistake.
      case .success(let bytes) where bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }): continue
      case .success(let bytes): return SourcedEvent(line: line.number, event: Self.event(bytes))
      }
    }
    return nil
  }

  private static func event(_ bytes: [UInt8]) -> Result<Event, EventProblem> {
    do {
      return .success(try Event(json: bytes))
    } catch {
      return .failure(error)
    }
  }
}
