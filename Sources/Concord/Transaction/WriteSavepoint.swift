/// The extent of the writes of a transaction that the journal does not keep: what a part that throws goes back to.
struct WriteSavepoint {
  let logCount: Int
  let clearedCount: Int
}
