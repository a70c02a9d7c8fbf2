/// The extent of a transaction's log, removals, written nodes and recorded steps, which the journal does not keep. A part that throws is undone
/// back to it.
struct WriteSavepoint {
  let logCount: Int
  let clearedCount: Int
  let removedCount: Int
  let writtenCount: Int
  let stepCount: Int
}
