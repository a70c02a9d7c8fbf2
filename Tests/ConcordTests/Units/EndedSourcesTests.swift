import Testing

@testable import Concord

@Suite("Sources of ended subscriptions")
struct EndedSourcesTests {
  private func numbers(_ sources: [Any]) -> [Int] { sources.compactMap { $0 as? Int } }

  @Test("A thread takes all there is, and what comes meanwhile when it is done with that")
  func oneThread() {
    var ended = EndedSources()
    #expect(ended.isEmpty)
    #expect(ended.begin(on: 1).isEmpty)
    ended.append(1)
    ended.append(2)
    #expect(!ended.isEmpty)
    #expect(numbers(ended.begin(on: 1)) == [1, 2])
    #expect(ended.isEmpty)
    ended.append(3)
    #expect(ended.begin(on: 1).isEmpty, "it is about the first two")
    #expect(!ended.isEmpty)
    #expect(numbers(ended.goOn(on: 1)) == [3])
    #expect(ended.goOn(on: 1).isEmpty)
    ended.append(4)
    #expect(numbers(ended.begin(on: 1)) == [4], "it had ended")
  }

  @Test("Having nothing to begin with, a thread is not about anything")
  func nothing() {
    var ended = EndedSources()
    _ = ended.begin(on: 1)
    ended.append(1)
    #expect(numbers(ended.begin(on: 1)) == [1])
  }

  @Test("Two threads do not wait for each other, and leave nothing")
  func twoThreads() {
    var ended = EndedSources()
    ended.append(1)
    _ = ended.begin(on: 1)
    ended.append(2)
    #expect(numbers(ended.begin(on: 2)) == [2])
    ended.append(3)
    #expect(ended.begin(on: 2).isEmpty)
    // Whoever comes first takes it.
    #expect(numbers(ended.goOn(on: 1)) == [3])
    #expect(ended.goOn(on: 2).isEmpty)
    ended.append(4)
    #expect(ended.begin(on: 1).isEmpty)
    #expect(numbers(ended.begin(on: 2)) == [4])
  }
}
