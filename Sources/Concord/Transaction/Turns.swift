/// Whose turn it is to write: the open transactions, the innermost last. A pure state machine.
///
/// A closure that runs inside a transaction (its body, an `update`'s closure) opens a frame for its thread. Only the innermost
/// frame may write: its thread, and whoever uses the store that the transaction's body was handed. All others wait.
struct Turns {
  private struct Frame {
    let thread: UInt
    /// What the handed store carries; 0 for a frame without.
    let token: UInt64
  }

  private var frames: ContiguousArray<Frame> = []
  /// The store has layers, which are to be seen to at both ends of a write.
  var hasLayers = false {
    didSet { isBusy = isOpen || hasLayers }
  }
  /// A transaction is open, or there are layers: a write has more to do than most.
  private(set) var isBusy = false
  /// How long a thread waits for its turn before it says so.
  var patience: Duration = .seconds(5)

  var isOpen: Bool { !frames.isEmpty }

  /// Whether the thread, or whoever has the token, may write now.
  func mayWrite(_ thread: UInt, token: UInt64) -> Bool {
    guard let innermost = frames.last else { return true }
    return innermost.thread == thread || (token != 0 && innermost.token == token)
  }

  /// Whether the thread, or whoever has the token, belongs to the open transaction, and so sees what it wrote.
  func sees(_ thread: UInt, token: UInt64) -> Bool {
    frames.isEmpty || frames.contains { $0.thread == thread || (token != 0 && $0.token == token) }
  }

  mutating func open(_ thread: UInt, token: UInt64) {
    frames.append(Frame(thread: thread, token: token))
    isBusy = true
  }

  mutating func close() {
    _ = frames.popLast()
    isBusy = isOpen || hasLayers
  }
}
