import ConcordTestHeap
import Testing

@Suite("The measure of the heap")
struct HeapTests {
  @Test("It sees what is allocated and what is freed")
  func sees() async {
    await #expect(processExitsWith: .success) {
      let before = heapInUse()
      var arrays: [[Int]]? = (0..<1_000).map { Array(repeating: $0, count: 1_000) }
      let between = heapInUse() - before
      #expect(arrays?.count == 1_000)
      arrays = nil
      let after = heapInUse() - before
      // A sanitizer's allocator cannot be asked.
      #expect(before == 0 || (between > 7_900_000 && after < 100_000), "\(before) +\(between) +\(after)")
    }
  }
}
