import Testing

@testable import ConcordPersistence

@Suite("The rows of a page")
struct RowFilterTests {
  @Test("Many keys are read in parts, in their order, and not as all that lies between them")
  func parts() {
    let keys = (0..<1_200).map { StoredValue.integer(Int64($0 * 7_919 % 1_000_003)) }
    var found: [StoredValue] = []
    for reading in RowFilter(keys: keys).readings {
      guard case .isIn(.key, let part) = reading else {
        Issue.record("\(reading)")
        continue
      }
      #expect(part.count <= 500)
      found += part.sorted(by: StoredValue.precedes)
    }
    #expect(found == keys.sorted(by: StoredValue.precedes))
    #expect(RowFilter(keys: []).readings.isEmpty)
  }
}
