/// Why a catalogue could not be opened.
public enum CatalogueError: Error, Equatable, CustomStringConvertible {
  case unreadable(file: String, reason: String)
  case malformed(file: String, line: Int, reason: String)

  public var description: String {
    switch self {
    case .unreadable(let file, let reason): "\(file): \(reason)"
    case .malformed(let file, let line, let reason): "\(file):\(line): \(reason)"
    }
  }
}
