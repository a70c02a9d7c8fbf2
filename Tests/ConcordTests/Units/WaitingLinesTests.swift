import Dispatch
import Testing

@testable import Concord

@Suite("The lines that have something to deliver")
struct WaitingLinesTests {
  @Test("Each is taken once, in order, and kept until then")
  func taking() {
    let waiting = WaitingLines()
    #expect(waiting.takeAll().isEmpty)
    weak var gone: DeliveryLine?
    do {
      let lines = (0..<3).map { _ in DeliveryLine(.committingThread) }
      gone = lines[1]
      for line in lines { waiting.append(line) }
      waiting.append(lines[0])
      #expect(waiting.takeAll().map(ObjectIdentifier.init) == (lines + [lines[0]]).map(ObjectIdentifier.init))
      #expect(waiting.takeAll().isEmpty)
      waiting.append(lines[1])
    }
    #expect(gone != nil)
    #expect(waiting.takeAll().count == 1)
    #expect(gone == nil)
  }

  @Test("What several threads append, several threads take, each once")
  func threads() {
    let waiting = WaitingLines()
    let taken = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for _ in 0..<2_000 {
        if thread < 4 { waiting.append(DeliveryLine(.committingThread)) }
        let count = waiting.takeAll().count
        taken.withLock { $0 += count }
      }
    }
    let rest = waiting.takeAll().count
    #expect(taken.withLock { $0 } + rest == 8_000)
  }
}
