/// What is wrong with a line of a file, and with which.
struct LineProblem: Error, Equatable {
  let line: Int
  let reason: String
}
