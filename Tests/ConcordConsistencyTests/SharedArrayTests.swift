import ConcordConsistency
import Dispatch
import Testing

@Suite("Values that threads share are only read")
struct SharedArrayTests {
  // The thread sanitizer says more about these than what they expect.

  @Test("Threads merge one array of generated conformances")
  func generated() {
    let authors = (0..<64).map { Author(id: $0, name: "old") }
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<50 {
        let merged = authors.updated(with: Author(id: round, name: "\(thread)"))
        #expect(merged[round].name == "\(thread)")
      }
    }
    #expect(authors.allSatisfy { $0.name == "old" })
  }

  @Test("Threads merge one array of conformances written by hand, and one in an object")
  func writtenByHand() {
    let users = (0..<8).map { User("\($0)", "old") }
    let video = Video("v", "Film", likers: users)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for _ in 0..<50 {
        let user = User("\(thread)", "new")
        #expect(users.updated(with: user)[thread].name == "new")
        #expect(video.updated(with: user).likers[thread].name == "new")
      }
    }
    #expect(users.allSatisfy { $0.name == "old" })
  }
}
