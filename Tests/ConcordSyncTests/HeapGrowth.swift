#if Server && os(Linux)
  import Foundation

  /// The bytes that the process has allocated from time to time, which tell whether they grow with the number of its steps.
  ///
  /// Resident memory would not tell: it also counts what was freed, which is hundreds of megabytes after the other suites, and in these a leak
  /// finds its room.
  struct HeapGrowth {
    /// The bytes in use after each part of the steps.
    private(set) var sizes: [Int] = []

    mutating func note() { sizes.append(heapInUse()) }

    /// The bytes by which the last size is above the least one. What other suites of the process still give back hides nothing of it.
    var bytes: Int { (sizes.last ?? 0) - (sizes.min() ?? 0) }
  }

  /// Memory that a test does not free until it goes, to see whether that would be found.
  final class PlantedLeak {
    private var blocks: [UnsafeMutableRawPointer] = []

    func add(_ bytes: Int) { blocks.append(.allocate(byteCount: bytes, alignment: 16)) }

    deinit { for block in blocks { block.deallocate() } }
  }
#endif
