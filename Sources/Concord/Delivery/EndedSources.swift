/// The sources of ended subscriptions, which are to be destroyed without the store's lock, since that runs code of the user's.
///
/// What one of them held may end others, and these others. A thread destroys them one after the other, and not one inside the
/// other: so a chain of any length needs no more of the stack than one link. A pure state machine.
struct EndedSources {
  private var sources: [Any] = []
  private var threads: [UInt] = []

  var isEmpty: Bool { sources.isEmpty }

  mutating func append(_ source: Any) { sources.append(source) }

  /// What the thread is to destroy; nothing if it is about that already, and will come to these.
  mutating func begin(on thread: UInt) -> [Any] {
    if sources.isEmpty || threads.contains(thread) { return [] }
    threads.append(thread)
    return takeAll()
  }

  /// What the thread is to destroy next; with nothing it has ended.
  mutating func goOn(on thread: UInt) -> [Any] {
    if sources.isEmpty { threads.removeAll { $0 == thread } }
    return takeAll()
  }

  private mutating func takeAll() -> [Any] {
    defer { sources = [] }
    return sources
  }
}
