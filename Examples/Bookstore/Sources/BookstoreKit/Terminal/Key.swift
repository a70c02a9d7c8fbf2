/// A key that means something here.
enum Key: Sendable, Equatable {
  case next
  case previous
  case up
  case down
  case pause
  case zoom
  case sell
  case quit
}
