import CHeap

/// What malloc has given out.
enum Heap {
  static var bytesInUse: Int { Int(concord_heap_in_use()) }

  /// Keeps freed memory in the program, where the next measurement finds it warm.
  static func keepPages() { concord_heap_keep_pages() }

  /// The bytes that `work` left allocated, divided by `count`.
  static func growth(per count: Int, _ work: () throws -> Void) rethrows -> Double {
    let before = bytesInUse
    try work()
    return Double(bytesInUse - before) / Double(count)
  }
}
