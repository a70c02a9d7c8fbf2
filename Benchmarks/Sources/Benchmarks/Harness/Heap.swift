import CHeap
import Foundation

/// What malloc has given out.
enum Heap {
  static var bytesInUse: Int { Int(concord_heap_in_use()) }

  /// Keeps freed memory in the program, where the next measurement finds it warm.
  static func keepPages() { concord_heap_keep_pages() }

  /// Gives what was freed back to the system, where the allocator can do that.
  static func giveBackPages() { concord_heap_give_back_pages() }

  /// Waits until other threads have given back what they no longer need: until nothing has changed for a while, for a second at most.
  static func settle() {
    var (last, quiet) = (bytesInUse, 0)
    for _ in 0..<200 where quiet < 10 {
      usleep(5_000)
      quiet = bytesInUse == last ? quiet + 1 : 0
      last = bytesInUse
    }
  }

  /// The bytes that `work` left allocated, divided by `count`.
  static func growth(per count: Int, _ work: () throws -> Void) rethrows -> Double {
    let before = bytesInUse
    try work()
    return Double(bytesInUse - before) / Double(count)
  }
}
