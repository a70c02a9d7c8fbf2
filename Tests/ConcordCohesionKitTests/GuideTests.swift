import ConcordCohesionKit
import Testing

@Suite("Each line of the guide for CohesionKit's users is true")
struct GuideTests {
  private static let claims = writing + reading + observing + modelling

  @Test("Calls", arguments: Guide.rows)
  func call(_ line: String) async throws {
    let claim = try #require(Self.claims.first { $0.line == line }, "the guide has a line that no test checks")
    try await claim.check()
  }

  @Test("Differences", arguments: Guide.differences)
  func difference(_ line: String) async throws {
    let claim = try #require(Self.differences.first { $0.line == line }, "the guide has a line that no test checks")
    try await claim.check()
  }

  @Test("No test checks a line that the guide does not have any more")
  func complete() {
    #expect(Set(Self.claims.map(\.line)) == Set(Guide.rows))
    #expect(Set(Self.differences.map(\.line)) == Set(Guide.differences))
    #expect(Guide.rows.count > 30)
  }
}
