/// The open transactions, the innermost last, which decide whose turn it is to write. A pure state machine.
///
/// A closure that runs inside a transaction (its body, an `update`'s closure) opens a frame for its thread. Only the innermost
/// frame may write: from its thread, or through the store that the transaction's body received. All other writers wait.
struct Turns {
  private struct Frame {
    let thread: UInt
    /// The token of the store that the body received; 0 for a frame without one.
    let token: UInt64
  }

  /// The innermost frame, which is usually the only one, and those around it.
  private var innermost: Frame?
  private var outer: ContiguousArray<Frame> = []
  /// Whether the store has layers, which need work at the beginning and the end of a write.
  var hasLayers = false {
    didSet { isBusy = isOpen || hasLayers }
  }
  /// Whether a transaction is open, or there are layers. Otherwise a write can take the fast path.
  private(set) var isBusy = false
  /// The time after which a thread reports that it still waits for its turn.
  var patience: Duration = .seconds(5)

  var isOpen: Bool { innermost != nil }

  /// Whether a thread, or a store with a token, may write now.
  func mayWrite(_ thread: UInt, token: UInt64) -> Bool {
    guard let innermost else { return true }
    return innermost.thread == thread || (token != 0 && innermost.token == token)
  }

  /// Whether a thread, or a store with a token, belongs to the open transaction, and so sees its writes.
  func sees(_ thread: UInt, token: UInt64) -> Bool {
    guard let innermost else { return true }
    let isOfCaller = { (frame: Frame) in frame.thread == thread || (token != 0 && frame.token == token) }
    return isOfCaller(innermost) || outer.contains(where: isOfCaller)
  }

  mutating func open(_ thread: UInt, token: UInt64) {
    if let innermost { outer.append(innermost) }
    innermost = Frame(thread: thread, token: token)
    isBusy = true
  }

  mutating func close() {
    innermost = outer.isEmpty ? nil : outer.removeLast()
    isBusy = isOpen || hasLayers
  }
}
