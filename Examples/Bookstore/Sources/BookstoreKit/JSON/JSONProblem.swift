/// What is wrong with a JSON text, and on which of its lines.
struct JSONProblem: Error, Equatable {
  let line: Int
  let reason: String
}
