import CHeap

/// What malloc has given out.
enum Heap {
  static var bytesInUse: Int { Int(concord_heap_in_use()) }

  /// The bytes that `work` left allocated, divided by `count`.
  static func growth(per count: Int, _ work: () throws -> Void) rethrows -> Double {
    let before = bytesInUse
    try work()
    return Double(bytesInUse - before) / Double(count)
  }
}
