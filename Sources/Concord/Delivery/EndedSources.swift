/// The sources of ended subscriptions, and ended queries, which must be destroyed without the store's lock, since that runs code of the user's.
///
/// A destroyed source may end further subscriptions. A thread destroys the sources one after the other, not recursively, so
/// that a chain of any length needs no more stack than one source. A pure state machine.
struct EndedSources {
  private var sources: [Any] = []
  private var threads: [UInt] = []

  var isEmpty: Bool { sources.isEmpty }

  mutating func append(_ source: Any) { sources.append(source) }

  /// Returns the sources that the thread is to destroy; none if it is already destroying sources, and will destroy these next.
  mutating func begin(on thread: UInt) -> [Any] {
    if sources.isEmpty || threads.contains(thread) { return [] }
    threads.append(thread)
    return takeAll()
  }

  /// Returns the sources that the thread is to destroy next; none if it is done.
  mutating func goOn(on thread: UInt) -> [Any] {
    if sources.isEmpty { threads.removeAll { $0 == thread } }
    return takeAll()
  }

  private mutating func takeAll() -> [Any] {
    defer { sources = [] }
    return sources
  }
}
