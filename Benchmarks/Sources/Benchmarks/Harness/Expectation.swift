/// The work that was measured had another result than it must have, so its time says nothing.
struct WrongResult: Error, CustomStringConvertible {
  let description: String
}

/// Throws if the measured work did not have its result. Called outside of what is timed.
func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
  guard condition else { throw WrongResult(description: what()) }
}

/// Throws if two values differ, and says which they are.
func expect<Value: Equatable>(_ actual: Value, is expected: Value, _ what: @autoclosure () -> String) throws {
  guard actual == expected else {
    throw WrongResult(description: "\(what()): \(actual) instead of \(expected)")
  }
}
