#if Server && os(Linux)
  import Foundation
  import GRDBSQLite

  /// The bytes that the process has allocated from time to time, which tell whether they grow with the number of its steps.
  ///
  /// Resident memory would not tell: it also counts what was freed, which is hundreds of megabytes after the other suites, and in these a leak
  /// finds its room.
  struct HeapGrowth {
    /// The bytes in use after each part of the steps, without those of SQLite.
    private(set) var sizes: [Int] = []
    /// The bytes that SQLite uses. Its caches grow for long, up to 2 MiB for each connection.
    private(set) var databaseSizes: [Int] = []

    mutating func note() {
      let database = Int(sqlite3_memory_used())
      sizes.append(heapInUse() - database)
      databaseSizes.append(database)
    }

    /// The bytes by which the last size is above the least one. What other suites of the process still give back hides nothing of it.
    private static func growth(_ sizes: [Int]) -> Int { (sizes.last ?? 0) - (sizes.min() ?? 0) }

    /// The bytes that Swift Testing keeps for each step: a backtrace of each error that is thrown, unless the environment says otherwise, as that of
    /// `Scripts/test` does.
    private static let backtrace =
      ProcessInfo.processInfo.environment["SWT_SWIFT_ERROR_BACKTRACING_ENABLED"] == "0" ? 0 : 100

    /// - Parameter steps: the number of steps between the first size and the last one, or a little more.
    /// - Returns: whether the heap has grown by more than what allocators and tables keep, or SQLite by more than its caches: of 10,000 steps a leak of
    ///   120 bytes in each is found, of a million one of 3. Without one it was 0.4 MB after 100,000.
    func isLeak(_ steps: Int) -> Bool {
      Self.growth(sizes) > 1024 * 1024 + (1 + Self.backtrace) * steps
        || Self.growth(databaseSizes) > 12 * 1024 * 1024
    }
  }

  /// Memory that a test does not free until it goes, to see whether that would be found.
  final class PlantedLeak {
    private var blocks: [UnsafeMutableRawPointer] = []

    func add(_ bytes: Int) { blocks.append(.allocate(byteCount: bytes, alignment: 16)) }

    deinit { for block in blocks { block.deallocate() } }
  }
#endif
